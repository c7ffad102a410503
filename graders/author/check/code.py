"""What a kata's code lacks: files, stub, grader, alternatives, mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from graders.author.check.page import Page
from graders.author.stub import is_work
from graders.catalogue.katas import Kata
from graders.catalogue.source import same_program
from graders.catalogue.stub import stub_for
from graders.faults import GraderError
from graders.judge import checks
from graders.judge.standard import rules_in
from graders.judge.vectors import TestVectors
from graders.kata.scenario import on_ranks
from graders.kata.signatures import parameters_of
from graders.kata.spec import CATEGORIES

TODO = "TODO(author)"  # what `new` leaves for an author to fill in
END = re.compile(r" ?(<|\|).*|\W*$")  # of what is to be done: markup, or no more words
UNCLEAR = re.compile(
    r"\.shape|len\(|tuple|[{}]|\bhave the shape[,;]|, ,| $|=|\(,| to(,|$)| should (be|have( at most \w+)?)$"
)
ALTERNATIVES, MISTAKES, DIAGNOSIS = 4, 8, 20  # at least: files, mistakes, characters


def needed(kata: Kata) -> list[Path]:
    """The files that all other rules read."""
    return [kata.statement, kata.grader_file, kata.reference_file]


def files(kata: Kata) -> Iterator[str]:
    own = [kata.folder / name for name in ("follow_up.md", "interview.md")]
    spoilers = [kata.solutions / name for name in ("mistakes.py", "hints.md")]
    for path in (*needed(kata), *own, *spoilers):
        if not path.exists():
            yield f"{path.relative_to(kata.root)} is missing"


def leftovers(kata: Kata) -> Iterator[str]:
    for path in sorted(one for folder in (kata.folder, kata.solutions) for one in folder.rglob("*.[mp][dy]")):
        page = Page.of(kata, path)
        if path not in (kata.answer_file, kata.kept_stub):
            for found in re.finditer(rf"{re.escape(TODO)}:? ?(.*)", page.text):
                yield f"{page.at(found.start())}: left to do: {END.sub('', found[1])}"


def linted(kata: Kata) -> Iterator[str]:
    """A learner reads all of it, and is not to wonder about words to a linter."""
    for path in sorted(one for folder in (kata.folder, kata.solutions) for one in folder.rglob("*.py")):
        page = Page.of(kata, path)
        if "# noqa" in page.text and path != kata.answer_file:
            yield f"{page.at('# noqa')}: write it in a way that needs no # noqa"


def stub(kata: Kata) -> Iterator[str]:
    """The reference leaves something to do, and both stubs are made of it; a learner may have begun."""
    made, run = stub_for(kata), f"run: python -m graders stub {kata.id}"
    if "# TODO" not in made:
        yield f"{Page.of(kata, kata.reference_file).at('# --- solution')}: the solution should have # TODO comments"
    if not kata.kept_stub.exists() or kata.kept_stub.read_text(encoding="utf-8") != made:
        yield f"{kata.kept_stub.relative_to(kata.root)} should be what the reference makes; {run}"
    found = kata.answer_file.read_text(encoding="utf-8") if kata.answer_file.exists() else ""
    begun = is_work(kata) and not same_program(found, made)
    if found != made and not begun:
        yield f"{kata.answer_file.relative_to(kata.root)} should be what the reference makes; {run}"


def cases(kata: Kata) -> Iterator[str]:
    """The inputs of each can be made and sent."""
    vectors, grader = TestVectors(kata.id, kata.grader, 0), Page.of(kata, kata.grader_file)
    for case in (case for answer in kata.grader.answers for case in answer.cases):
        try:
            vectors.arguments(case)
        except GraderError as error:
            yield f"{grader.at(quoted(case.name))}: {error}"


def points(kata: Kata) -> Iterator[str]:
    """Every category is asked that can be. Raises: GraderError where the checks cannot share the points."""
    planned = checks.plan(kata.grader, kata.module)
    wanted = set(CATEGORIES)
    if not any(answer.differentiates for answer in kata.grader.answers):
        wanted.remove("gradients")
    if not any(answer.budgets for answer in kata.grader.answers):
        wanted.remove("performance")
    for category in wanted - {check.category for check in planned}:
        yield f"{Page.of(kata, kata.grader_file).at('GRADER')}: some check should be about {category}, got none"


def costs(kata: Kata) -> Iterator[str]:
    """Where tensors come in, cost is tested, and a mistake shows what costs too much: of a number little is saved.

    Where texts come in, or tensors only come out, it may be tested.
    """
    vectors, grader = TestVectors(kata.id, kata.grader, 0), Page.of(kata, kata.grader_file)
    firsts = [(answer, case) for answer in kata.grader.answers for case in answer.cases[:1] if case.inputs]
    given = [value for _, case in firsts for one in vectors.arguments(case) for value in one.values()]
    tensors = not firsts or any(isinstance(value, Tensor) for value in given)
    results = (vectors.expected(answer, case, torch.float64, 0) for answer, case in firsts)
    made = (leaf for result in results for leaf in result.leaves.values())
    budgeted = any(answer.budgets for answer in kata.grader.answers)
    ranked = any(case.scenario and on_ranks(case.scenario) for _, case in firsts)  # own tests read what these cost
    if tensors and not budgeted and not ranked:
        yield f"{grader.at('GRADER')}: a Budget should limit the cost, since the inputs are tensors"
    texts = any(isinstance(value, str) for value in given)
    if budgeted and not (tensors or texts or any(isinstance(leaf, Tensor) for leaf in made)):
        yield f"{grader.at('Budget')}: no Budget is needed, since no text comes in, and no tensor in or out"
    if kata.proof and budgeted != any(mistake.slow for mistake in kata.mistakes):
        place = Page.of(kata, kata.solutions / "mistakes.py").at("MISTAKES")
        lacks = "should have slow=True where there is a" if budgeted else "has slow=True where there is no"
        yield f"{place}: a Mistake {lacks} budget"


def first_cases(kata: Kata) -> Iterator[str]:
    """They use defaults alone, so whoever has the plain formula first passes something."""
    vectors, grader = TestVectors(kata.id, kata.grader, 0), Page.of(kata, kata.grader_file)
    for answer in kata.grader.answers:
        listed = parameters_of(answer.forward or answer.signature).items()
        optional = {name for name, default in listed if default is not ...}
        for case in (one for one in answer.cases[:1] if not one.scenario):
            place = grader.at(quoted(case.name))
            for name in sorted(set().union(*vectors.arguments(case)) & optional):
                yield f"{place}: the first case should leave out {name}, which has a default"


def refusals(kata: Kata) -> Iterator[str]:
    """What a `raise` says is told to learners who lack it, without the values that were got."""
    page = Page.of(kata, kata.reference_file)
    if TODO in page.text:
        return
    for node, rule in rules_in(kata, page.text):
        if " should " not in rule or UNCLEAR.search(rule):
            yield f"{page.line(node.lineno)}: learners would read {rule!r}; say what should be without values"


def alternatives(kata: Kata) -> Iterator[str]:
    folder = kata.solutions / "alternatives"
    found = len(list(folder.glob("*.py")))
    if found < ALTERNATIVES:
        yield f"{folder.relative_to(kata.root)} should have {ALTERNATIVES} right answers or more, got {found}"


def mistakes(kata: Kata) -> Iterator[str]:
    """Enough of them, told apart, whose edits match the reference."""
    page = Page.of(kata, kata.solutions / "mistakes.py")
    known, place = kata.mistakes, page.at("MISTAKES")
    if len(known) < MISTAKES:
        yield f"{place}: there should be {MISTAKES} mistakes or more, got {len(known)}"
    reference = kata.reference_file.read_text(encoding="utf-8")
    by_name: set[str] = set()
    by_source: dict[str, str] = {}
    for mistake in known:
        place = page.at(quoted(mistake.name))
        if len(mistake.diagnosis) <= DIAGNOSIS:
            yield f"{place}: the diagnosis should say what is wrong and what to do, got {mistake.diagnosis!r}"
        try:
            forms = mistake.forms(reference)
        except GraderError as error:
            yield f"{place}: {error}"
            continue
        for name, source in forms.items():
            if name in by_name:
                yield f"{place}: two mistakes have the name {name}"
            if source in by_source:
                yield f"{place}: {name} and {by_source[source]} make the same edits"
            by_name.add(name)
            by_source.setdefault(source, name)


def quoted(name: str) -> str:
    """How a name stands in code."""
    return f'"{name}"'
