"""What changed since the last attempt, said in one line from what is remembered of it."""

from __future__ import annotations

import pytest

from graders.desk.since import changes
from graders.desk.state import Event
from graders.judge.results import Outcome, Result

HEAD = "values of w1: 3 of 6 differ"


def judged(*failed: str, told: str = "", error: bool = False) -> Result:
    """Where all of these and no other checks fail; `told` is of the outputs of the first one's call."""
    names = dict.fromkeys((*failed, "shapes/a", "numerics/a", "numerics/b", "gradients/a"))
    message = f"{HEAD}; {told}" if told else HEAD
    outcomes = [
        Outcome(name, name.partition("/")[0], "fail", 1, message if name == failed[0] else HEAD, order=place)
        if name in failed
        else Outcome(name, name.partition("/")[0], "pass", 1, order=place)
        for place, name in enumerate(names)
    ]
    return Result("k", "t", "k.py", error=error, outcomes=outcomes, planned=len(outcomes))


def remembered(result: Result) -> Event:
    first = result.first_failure
    failed = [one.name for one in result.failures]
    return Event("attempt", "k", {"state": result.state, "failed": failed, "message": first.message if first else None})


SOME = judged("numerics/a", "numerics/b", told="w1 wrong, b1 wrong, w2 right, b2 right")


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (judged("numerics/a", "numerics/b"), SOME, "w2, b2 now right"),
        (SOME, judged("numerics/a", told="w1 wrong, b1 right, w2 right, b2 right"),
         "b1 now right; numerics: 1 fail, 2 before"),
        (SOME, judged("numerics/a", "numerics/b", told="w1 right, b1 wrong, w2 wrong, b2 right"),
         "w1 now right; w2 now wrong"),
        (SOME, judged("gradients/a"), "numerics now pass; gradients fail now"),
        (SOME, SOME, "no check changed"),
        (judged("numerics/b"), SOME, "numerics: 2 fail, 1 before"),  # of another call's outputs nothing is known
        (SOME, judged(), "numerics now pass"),
        (SOME, judged("shapes/a", error=True), "it cannot be imported any more"),
        (judged("shapes/a", error=True), judged("shapes/a", error=True), "it still cannot be imported"),
        (judged("shapes/a", error=True), SOME, "it can be imported now"),
    ],
)  # fmt: skip
def test_what_changed_is_said(before: Result, now: Result, said: str) -> None:
    assert changes(before, now) == said
    assert changes(remembered(before), now) == said
