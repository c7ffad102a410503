"""The signatures of the texts and of the grader, held against the reference's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graders.author.check.page import Page
from graders.catalogue import texts
from graders.catalogue.katas import Kata

SPAN = re.compile(r"`([\w.]+)\(([^`]*)\)`")


def signatures(kata: Kata) -> Iterator[str]:
    """The reference's signatures are the grader's, and those of the statement, the hints and the prompt."""
    right = signatures_in(ast.parse(kata.reference_file.read_text(encoding="utf-8")))
    grader, statement = Page.of(kata, kata.grader_file), Page.of(kata, kata.statement)
    answers = {name: text for answer in kata.grader.answers for name, text in answer.signatures.items()}
    for name, text in answers.items():
        if name not in right:
            yield f"{grader.at(text)}: the reference should define {name}"
        elif "(" in text and (got := arguments_of(text.partition("(")[2][:-1])) != right[name][0]:
            yield differs(grader.at(text), name, got, right[name][0])
    asked = {name: arguments for name, (arguments, _) in right.items() if "(" in answers.get(name, "")}
    yield from of_code(statement, asked, first=True)
    for path in (kata.solutions / "hints.md", kata.folder / "interview.md"):
        if path.exists():
            yield from of_code(Page.of(kata, path), asked)
    if (kata.folder / "interview.md").exists():
        yield from of_prompt(Page.of(kata, kata.folder / "interview.md").between("## Prompt\n", "\n## "), asked)


def of_code(page: Page, asked: dict[str, str], first: bool = False) -> Iterator[str]:
    """What a page's blocks of code define should be defined so; the first block, where it counts, defines all."""
    for number, block in enumerate(texts.BLOCK.finditer(page.text)):
        line = page.text.count("\n", 0, block.start(1))
        try:
            found = signatures_in(ast.parse(block[1]))
        except SyntaxError as error:
            yield f"{page.line(line + (error.lineno or 1))}: the block of code should be Python: {error.msg}"
            continue
        for name in found.keys() & asked.keys():
            if found[name][0] != asked[name]:
                yield differs(page.line(line + found[name][1]), name, found[name][0], asked[name])
        if first and number == 0:
            yield from (f"{page.line(line)}: the block of code should define {name}" for name in asked.keys() - found)


def of_prompt(page: Page, asked: dict[str, str]) -> Iterator[str]:
    """In a prompt, `name(…)` of an answer is its signature; of a method, its last name will do."""
    by_last_name = {name.rpartition(".")[2]: name for name in asked} | {name: name for name in asked}
    for span in SPAN.finditer(page.text):
        name = by_last_name.get(span[1])
        if name and (got := arguments_of(span[2])) != asked[name]:
            yield differs(page.at(span.start()), name, got, asked[name])


def differs(place: str, name: str, got: str, right: str) -> str:
    return f"{place}: {name}({got}) should be {name}({right}), as in the reference"


def signatures_in(module: ast.Module) -> dict[str, tuple[str, int]]:
    """Dotted name -> arguments and line, of functions and methods; a class has its constructor's."""
    found: dict[str, tuple[str, int]] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = in_words(node.args), node.lineno
        elif isinstance(node, ast.ClassDef):
            found[node.name] = "", node.lineno
            for method in (one for one in node.body if isinstance(one, ast.FunctionDef)):
                name = node.name if method.name == "__init__" else f"{node.name}.{method.name}"
                found[name] = in_words(method.args), method.lineno
    return found


def arguments_of(text: str) -> str:
    """Of a signature's text, what stands in its parentheses, in the form that is compared."""
    try:
        (node,) = ast.parse(f"def _({text}): ...").body
    except SyntaxError:
        return " ".join(text.split())
    assert isinstance(node, ast.FunctionDef)
    return in_words(node.args)


def in_words(arguments: ast.arguments) -> str:
    """Names and defaults, without types and without `self`."""
    for one in ast.walk(arguments):
        if isinstance(one, ast.arg):
            one.annotation = None
    return re.sub(r"^self(, |$)", "", re.sub(r"e([-+]?)0+(?=\d)", r"e\1", ast.unparse(arguments)))
