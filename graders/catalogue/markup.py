"""Statements as the Markdown that becomes HTML: formulas drawn, links led to where the katas' pages are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from latex2mathml.converter import convert

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.faults import ROOT

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>[^)\s]+)\)")
DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>", re.DOTALL)
RULES = "docs/rules.md"
# Of Python-Markdown, which MkDocs also uses.
EXTENSIONS = (
    "admonition", "attr_list", "md_in_html", "tables", "pymdownx.highlight", "pymdownx.superfences", "toc",
)  # fmt: skip
WORDS = re.compile(r"\\text\{[^{}]*\}")  # in which latex2mathml shows a backslash
NAMED = re.compile(r"\\operatorname(?=\{[^{}]*_[^{}]*\})")  # of which it makes single letters
NESTS = re.compile(r"(\\qquad|\\begin|\\end|[{}])")
# What it does not know, in words that it does.
SPELLINGS = {r"\bigl": r"\left", r"\bigr": r"\right", r"\Bigl": r"\left", r"\Bigr": r"\right"}


def marked_up(text: str, address: Callable[[str], str | None], rules: str) -> str:
    """Markdown for EXTENSIONS. `address` says where a kata's page is, `rules` is the page that all katas refer to."""
    return with_links(with_formulas(DETAILS.sub(r'<details markdown="1"><summary>\1</summary>', text)), address, rules)


def follow_up(kata: Kata) -> str:
    """What an interviewer asks next, without its heading. Raises: UsageError."""
    return texts.COMMENT.sub("", texts.read(kata, kata.folder / "follow_up.md")).partition("\n")[2]


def rules() -> str:
    """What every statement refers to."""
    return LINK.sub(r"\g<text>", (ROOT / RULES).read_text(encoding="utf-8"))


def with_formulas(text: str) -> str:
    """Formulas as MathML, which browsers draw without a script. Code stays as it is."""

    def drawn(found: re.Match[str]) -> str:
        block, inline = found["block"], found["inline"]
        if not block and not inline:
            return found[0]
        formula = " ".join((block or inline).split())
        for spelling, plain in SPELLINGS.items():
            formula = formula.replace(spelling, plain)
        formula = WORDS.sub(lambda words: words[0].replace(r"\_", "_"), NAMED.sub(r"\\text", formula))
        if inline:
            return convert(formula, display="inline")
        made = "".join(convert(part, display="block") for part in side_by_side(formula))
        return f'\n\n<div class="formula" tabindex="0">{made}</div>\n\n'

    return texts.CODE_OR_FORMULA.sub(drawn, text)


def side_by_side(formula: str) -> list[str]:
    """The formulas that stand next to each other in one; a page shows them below each other where it is narrow."""
    parts, depth = [""], 0
    for token in NESTS.split(formula):
        depth += (token in ("{", r"\begin")) - (token in ("}", r"\end"))
        if token == r"\qquad" and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def with_links(text: str, address: Callable[[str], str | None], rules: str) -> str:
    """Links to other katas and to the rules lead to their pages; those to files of the repository become their text."""

    def led(found: re.Match[str]) -> str:
        to = found["to"].partition("#")[0]
        if found["to"].startswith(("https://", "http://", "#")):
            return found[0]
        if to.endswith(RULES):
            return f"[{found['text']}]({rules})"
        name = PurePosixPath(to).parent.name if to.endswith("README.md") else PurePosixPath(to).name
        if there := address(name):
            return f"[{found['text']}]({there})"
        if to == "follow_up.md":
            return f"[{found['text']}](#follow-up-questions)"
        return f"`{found['text']}`" if to.endswith(".py") else found["text"]

    return LINK.sub(led, text)
