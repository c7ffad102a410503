"""What a grader asks, for texts that say how large it gets."""

from __future__ import annotations

from graders.catalogue import katas
from graders.faults import ROOT
from graders.kata.draw import Draw
from graders.kata.spec import Arguments


def inputs_of(kata_id: str) -> dict[str, list[Arguments]]:
    """The arguments of each call, by the name of its case."""
    (kata,) = katas.find([kata_id], ROOT)
    found: dict[str, list[Arguments]] = {}
    for case in (case for answer in kata.grader.answers for case in answer.cases):
        if case.inputs:
            found[case.name] = case.calls(Draw(case.name))
    return found
