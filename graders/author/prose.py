"""Lints the prose that people read, by proselint with rules of this project's own: docs/writing.md explains them.

`nox -s lint` runs it over all pages, the sentences of the known mistakes, the docstrings of the references, and what
commands say in their help, errors and messages.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from proselint.checks import __register__ as THEIRS
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, CheckResult
from proselint.registry.checks.engine import Fancy, Padding
from proselint.registry.checks.types import Existence
from proselint.tools import LintFile

from graders.catalogue.katas import all_katas
from graders.faults import ROOT

OURS = "katas"  # whose rules these are, in proselint's paths
PAGES = ("*.md", "docs/*.md", "katas/*.md", "katas/*/*/*.md", "solutions/*/*/hints.md", "tests/*.md", "graders/**/*.md")
# What says something to people: exceptions that are shown as sentences, what prints, and argparse's own keywords.
SAYING = {
    *("UsageError", "GraderError", "ArgumentTypeError", "ValueError", "RuntimeError", "CheckFailed", "NotGraded"),
    *("Stopped", "JudgeEnded", "say", "print", "confirm", "complain"),
}
HELP = {"help", "description"}
LONGEST = 35  # words in one go: up to a stop, a colon or a semicolon
# Name -> what should not stand in a text, as a regular expression, and what to do.
RULES = {
    "too": (r",\s+too(?=[.,:;)]|\s*$)", "say `also` before the verb, or `including`"),
    "asked": (r"\b(is|are|be|was|were|also|not|only) asked\b(?! (about|for|to|in|by|next|again))", "it is `tested`"),
    "that_of": (r"\b(that|those) of\b", "name the thing, or use a possessive"),
    "place": (r"\b(behind|beside)\b", "say `after`, `next to` or `compared with`"),
    "where": (r"\b(also|even) where\b", "say `also if` or `even if`"),
    "own": (r"\bthe own\b", "say `its own`"),
    "into": (r"\bbelongs? into\b", "it `belongs in` something"),
    "itself": (r"\boff? by [^.]* of itself\b|\d of itself\b", "the error is `relative`"),
    "spelling": (
        r"(?<![\w./])(?!optimizers(?:\.py|\n))"  # the name of a kata
        r"[a-z]*(normaliz|optimiz|initializ|regulariz|generaliz|standardiz|minimiz|maximiz)[a-z]+\b(?! \||/)"
        r"|(?<![\w.])(behavior|neighbor|color|favor|center)[a-z]*\b",
        "British spelling, except for names in code",
    ),
}
# Of proselint's own. Off is what formulas and masked code look like, and words that are meant as they stand.
ON = tuple(name for name, on in DEFAULT["checks"].items() if on)
OFF = ("typography", "lexical_illusions", "dates_times", "weasel_words.very", "industrial_language", "cliches")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
HIDDEN = re.compile(
    r"<!--.*?-->|^ *(?P<fence>`{3,}).*?^ *(?P=fence)$|\$\$.*?\$\$|<[^<>\n]+>|\]\([^)\n]*\)", re.DOTALL | re.MULTILINE
)
CODE = re.compile(r"``.*?``|`[^`]*`|\$[^$\n]+\$", re.DOTALL)
PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?=[-*|>#]|\d+\. )|\|")
PAUSE = re.compile(r"[.!?:;]\W*\s|(?<=\s), (?=\[)")  # a list of links is no sentence
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def long_sentences(text: str, check: Check) -> Iterator[CheckResult]:
    start = 0
    ends = {found.end() for rule in (PARAGRAPH, PAUSE) for found in rule.finditer(text)}
    for end in sorted({*ends, len(text)}):
        words = len(WORD.findall(text, start, end))
        if words > LONGEST:
            first = start + len(text[start:end]) - len(text[start:end].lstrip())
            why = f"{words} words in one go, at most {LONGEST}: make two sentences"
            yield CheckResult(check.path, why, (first, end), None)
        start = end


def masked(text: str) -> str:
    """The text with spaces for what is no prose, and marks for code inside a sentence; every place stays."""

    def hide(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "_" if found.re is CODE else " ", found[0])

    for pattern in (FRONT_MATTER, HIDDEN, CODE):
        text = pattern.sub(hide, text)
    return text


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Each with its name."""
    for path in sorted({path for pattern in PAGES for path in root.glob(pattern)}):
        yield str(path.relative_to(root)), masked(path.read_text(encoding="utf-8"))
    for path in sorted((root / "graders").rglob("*.py")):
        for line, said in messages(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}, message of line {line}", masked(said)
    for kata in all_katas(root):
        for mistake in kata.mistakes:
            yield f"mistake {mistake.name} of {kata.id}", masked(mistake.diagnosis)
        tree = ast.parse(kata.reference_file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                yield f"docstring of {getattr(node, 'name', 'the module')} in {kata.id}", masked(text)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """What a program says to people, each with its line: arguments of what shows or raises it, and of argparse."""
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        shown = [word.value for word in call.keywords if word.arg in HELP]
        for node in (*shown, *(call.args if name in SAYING else ())):
            told = ((found.lineno, words_of(found)) for found in outermost(node))
            yield from ((line, text) for line, text in told if WORD.search(text))


def outermost(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The texts in an expression, an f-string as one."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from outermost(child)


def words_of(text: ast.JoinedStr | ast.Constant) -> str:
    """With a mark for each value that is put into it."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "_" for part in parts)


def main(root: Path = ROOT) -> int:
    theirs = (one for one in THEIRS if one.path.startswith(ON) and not one.path.startswith(OFF))
    checks = (*rules(), *theirs)
    CheckRegistry().register_many(checks)
    config: Config = {"max_errors": sys.maxsize, "checks": {one.path: True for one in checks}}
    found = 0
    for name, text in texts(root):
        for result in LintFile(name, text).lint(config):
            start, end = result.check_result.span
            line, column = result.pos
            words = " ".join(text[max(start - 1, 0) : end - 1].split())[:80]
            print(f"{name}:{line}:{column}: {words!r}: {result.check_result.message}")
            found += 1
    print(f"prose: {found} to rewrite" if found else "prose: nothing to rewrite")
    return 1 if found else 0


def rules() -> Iterator[Check]:
    flags = CheckFlags(allow_quotes=True)
    for name, (pattern, words) in RULES.items():
        over_lines = pattern.replace(" ", r"\s+")
        yield Check(Existence((over_lines,), padding=Padding.RAW), Fancy(), f"{OURS}.{name}", words, flags)
    yield Check(long_sentences, Fancy(), f"{OURS}.length", "", flags)


if __name__ == "__main__":
    sys.exit(main())
