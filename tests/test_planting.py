"""Bugs planted in a reference: which lines they change, whether each shows, and which an answer still has."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graders.catalogue import katas
from graders.catalogue.bugs import Bug, Change, are_apart, bugs_of, has_another, places, plain, planted, right_file
from graders.catalogue.katas import Kata
from graders.judge.planting import Planting
from graders.sandbox.launcher import Launcher, new_launcher

SAMPLE = ("cosine_similarity", "entropy_kl")
RIGHT = '''"""Scale."""


def scale(x, factor=2.0):
    """x times factor."""
    if factor == 0:
        raise ValueError(f"factor should not be 0, got {factor}")
    return x / (1 / factor)
'''


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    made = new_launcher()
    yield made
    made.close()


@pytest.fixture
def plant(launcher: Launcher) -> Iterator[Callable[[Kata], Planting]]:
    made: list[Planting] = []

    def make(kata: Kata) -> Planting:
        made.append(Planting(kata, launcher))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_file_has_docstrings_and_no_comments_and_bugs_leave_no_traces(toys: Path) -> None:
    kata = Kata(toys, "toys", "scale")
    assert right_file(kata) == RIGHT
    inverse, no_refusal = bugs_of(kata)
    assert (inverse.name, inverse.changes) == ("inverse", (Change(7, 8, ("    return x / factor",)),))
    assert no_refusal.changes == (Change(5, 7, ()),)  # not an `if False:`
    assert are_apart([inverse, no_refusal])
    both = planted(RIGHT, [inverse, no_refusal])
    assert both.splitlines()[4:] == ['    """x times factor."""', "    return x / factor"]
    assert places(inverse, [no_refusal, inverse]) == [range(5, 6)]
    assert places(no_refusal, [no_refusal, inverse]) == [range(5, 5)]


def test_what_does_nothing_goes_but_not_what_is_needed() -> None:
    source = "if a:  # why\n    pass\nelse:\n    b()\nif c:\n    pass\nd()\npass\nwhile d:\n    pass\n"
    assert plain(source) == "if a:\n    pass\nelse:\n    b()\nd()\nwhile d:\n    pass\n"
    assert plain('x = "# none"  # one\n# two\ny = 1\n') == 'x = "# none"\ny = 1\n'


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (Change(1, 2, ("a",)), Change(2, 3, ("b",)), True),
        (Change(1, 3, ("a",)), Change(2, 4, ("b",)), False),
        (Change(1, 2, ("a",)), Change(2, 2, ("b",)), False),  # inserted right behind it
        (Change(1, 2, ("a",)), Change(3, 3, ("b",)), True),
        (Change(2, 2, ("a",)), Change(2, 2, ("b",)), False),
    ],
)
def test_bugs_that_change_the_same_lines_are_not_apart(one: Change, other: Change, apart: bool) -> None:
    assert are_apart([Bug("a", "", (one,)), Bug("b", "", (other,))]) is apart
    assert are_apart([Bug("b", "", (other,)), Bug("a", "", (one,))]) is apart


def test_bug_that_holds_another_mistake_is_not_planted() -> None:
    right = "return x - s.log()\n"
    quotient = (Change(0, 1, ("return (e / s).log()",)),)
    assert has_another((Change(0, 1, ("return (e / s).log2()",)),), [quotient], right)
    assert not has_another((Change(0, 1, ("return x - s.log2()",)),), [quotient], right)
    assert not has_another(quotient, [(Change(0, 1, ("return (e / s).log2()",)),)], right)


def test_bugs_of_softmax_are_mended_as_their_sentences_say() -> None:
    kata = katas.find_one("softmax")
    right, (bug,) = right_file(kata), [one for one in bugs_of(kata) if one.name == "another_logarithm"]
    assert planted(right, [bug]).replace(".log2()", ".log()") == right


def test_bug_that_its_style_gives_away_is_not_planted() -> None:
    kata = katas.find_one("self_attention")
    (mistake,) = (one for one in kata.mistakes if one.name == "cast_but_not_shifted")
    assert "(lambda e: " in next(iter(mistake.forms(kata.reference_file.read_text()).values()))
    assert mistake.name not in [bug.name for bug in bugs_of(kata)]


def test_no_planted_file_imports_what_it_does_not_use() -> None:
    kata = katas.find_one("mini_gpt")
    right, (bug,) = right_file(kata), [one for one in bugs_of(kata) if one.name == "not_scaled"]
    wrong = planted(right, [bug])
    assert "import math" in right
    assert "import math" not in wrong
    assert len(wrong.splitlines()) == len(right.splitlines())  # the other lines stay where they are


def test_forms_for_grading_alone_are_not_planted(toys: Path) -> None:
    mistakes = toys / "solutions/toys/scale/mistakes.py"
    mistakes.write_text(mistakes.read_text().replace('{"x / (1 / factor)": [', 'unplanted=[{"x / (1 / factor)": ['))
    mistakes.write_text(mistakes.read_text().replace('"x / factor / factor"]}', '"x / factor / factor"]}]'))
    kata = Kata(toys, "toys", "scale")
    assert [len(one.edits_of_forms) for one in kata.mistakes] == [2, 1]
    assert [bug.name for bug in bugs_of(kata)] == ["no_refusal"]


def test_every_kata_has_bugs_for_six_rounds_and_for_three_of_two() -> None:
    for kata in katas.all_katas():
        bugs = bugs_of(kata)
        pairs = [pair for pair in itertools.combinations(bugs, 2) if are_apart(pair)]
        assert len(bugs) >= 6, kata.id
        assert len(pairs) >= 3, kata.id
        assert len({bug.name for bug in bugs}) == len(bugs)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_left_is_told_however_far_a_learner_is(name: str, plant: Callable[[Kata], Planting]) -> None:
    kata = katas.find_one(name)
    planting, bugs, chance = plant(kata), bugs_of(kata), random.Random(name)
    assert planting.failure(()) is None  # the reference solves it
    triples = (chance.sample(bugs, 3) for _ in range(100))
    good = next(some for some in triples if planting.is_good(some))
    for count in range(4):
        for some in itertools.combinations(good, count):
            left = planting.left(planted(planting.right, some), good)
            assert {*left.bugs} == {bug.name for bug in some}
            assert not left.new


def test_another_right_repair_counts_and_a_new_fault_is_told(toys: Path, plant: Callable[[Kata], Planting]) -> None:
    planting = plant(Kata(toys, "toys", "scale"))
    both = inverse, no_refusal = bugs_of(planting.kata)
    assert planting.is_good(both)
    written = planted(RIGHT, both).replace("x / factor", "x.div(1 / factor)")
    left = planting.left(written, both)
    assert {*left.bugs} == {"no_refusal"}
    assert not left.new
    left = planting.left(written.replace("1 /", "1.5 /"), both)
    assert left.new
    assert left.bugs >= {"no_refusal"}
    failed = planting.failure([inverse])
    assert failed is not None
    assert failed.check == "shapes/three_by_five" or failed.check.startswith("numerics/three_by_five")
    assert failed.call == "scale(x[3, 5] float64)"
    shadowed = Bug("shadowed", "", (Change(7, 7, ("    factor = factor",)),))
    assert not planting.is_good([no_refusal, shadowed])  # it does nothing
    assert not planting.is_good([Bug("broken", "", (Change(7, 8, ("    return (",)),))])
