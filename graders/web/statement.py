"""Statements as HTML, drawn as on the site: the same Markdown, the same formulas."""

from __future__ import annotations

import functools

from markdown import Markdown

from graders.catalogue import markup, texts
from graders.catalogue.katas import Kata


@functools.lru_cache(maxsize=64)
def statement(kata: Kata, known: frozenset[str], prefix: str, answered: bool) -> str:
    """The statement; once the core is right, also what an interviewer asks next. Raises: UsageError."""
    text = texts.text_of(kata)
    if answered:
        text += f"\n\n## Follow-up questions\n\nYour mathematics is right.\n\n{markup.follow_up(kata)}\n"
    return drawn(text, known, prefix)


def rules() -> str:
    return drawn(markup.rules(), frozenset(), "")


def drawn(text: str, known: frozenset[str], prefix: str) -> str:
    made = markup.marked_up(
        text, lambda name: f"{prefix}/kata/{name}" if name in known else None, rules=f"{prefix}/rules"
    )
    html: str = Markdown(extensions=[*markup.EXTENSIONS]).convert(made)
    return html.replace("<pre>", '<pre tabindex="0">')
