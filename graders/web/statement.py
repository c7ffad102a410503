"""Statements as HTML, drawn as on the site: the same Markdown, the same formulas."""

from __future__ import annotations

import functools
import re
from html import escape

from markdown import Markdown

from graders.catalogue import markup, texts
from graders.catalogue.katas import Kata

EDIT = re.compile(r"^Edit \[.*\n\n", re.MULTILINE)  # with which commands to work on it elsewhere


@functools.lru_cache(maxsize=64)
def statement(kata: Kata, known: frozenset[str], prefix: str, answered: bool, state: str) -> str:
    """The statement; once the core is right, also what an interviewer asks next. Raises: UsageError.

    `state` says how far the learner has come with it.
    """
    text = EDIT.sub("", texts.text_of(kata))
    if answered:
        text += f"\n\n## Follow-up questions\n\nYour mathematics is right.\n\n{markup.follow_up(kata)}\n"
    about = kata.about
    facts = (about.topic.capitalize(), f"Level {about.level}", f"{about.minutes} minutes", state)
    meta = "".join(f"<span>{escape(one)}</span>" for one in facts if one)
    return drawn(text, known, prefix).replace("</h1>", f'</h1><p class="meta">{meta}</p>', 1)


def rules() -> str:
    return drawn(markup.rules(), frozenset(), "")


def drawn(text: str, known: frozenset[str], prefix: str) -> str:
    made = markup.marked_up(
        text, lambda name: f"{prefix}/kata/{name}" if name in known else None, rules=f"{prefix}/rules"
    )
    html: str = Markdown(extensions=[*markup.EXTENSIONS]).convert(made)
    return html.replace("<pre>", '<pre tabindex="0">')
