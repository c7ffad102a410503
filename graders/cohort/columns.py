"""The columns of what other programs import: katas, or assignments of several."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graders.catalogue.katas import Kata, find
from graders.cohort.gradebook import Gradebook
from graders.faults import UsageError
from graders.judge.checks import POINTS

WORKSHEET = ("Identifier", "Grade", "Last modified (grade)")  # what Moodle needs of it


@dataclass(frozen=True)
class Column:
    """Of what other programs import: a kata, or an assignment, with the weights of its katas."""

    name: str
    weights: dict[str, float]

    @property
    def most(self) -> float:
        return points_of(dict.fromkeys(self.weights, POINTS), self.weights)


def points_of(scores: dict[str, int], weights: dict[str, float]) -> float:
    """Points times weights, in hundredths; a whole number where it is one."""
    total = round(sum(scores[kata] * weight for kata, weight in weights.items() if kata in scores), 2)
    return int(total) if total == int(total) else total


def columns_of(
    assignments: list[tuple[str, dict[str, float]]], chosen: list[Kata], exports: list[str], book: Gradebook, root: Path
) -> list[Column]:
    """One for each assignment, or for each kata where there is none. Raises: UsageError."""
    columns = []
    for name, weights in assignments:
        own = {kata.id: weight for part, weight in weights.items() for kata in find([part], root)}
        if left_out := sorted(own.keys() - {kata.id for kata in chosen}):
            raise UsageError(f"{name} has {left_out[0]}, which --kata leaves out: add --kata {left_out[0]}")
        columns.append(Column(name, own))
    columns = columns or [Column(kata.id, {kata.id: 1}) for kata in chosen]
    if "gradescope" in exports and len(assignments) > 1:
        raise UsageError("--export gradescope writes files of one assignment: name one --assignment")
    if "moodle" in exports and not set(WORKSHEET) <= set(book.head):
        needed = ", ".join(WORKSHEET)
        raise UsageError(f"--export moodle needs Moodle's grading worksheet as --gradebook, with the columns {needed}")
    if "moodle" in exports and len(columns) > 1:
        raise UsageError("Moodle's worksheet has one column of grades: name one --assignment, or one --kata")
    return columns


def other_scales(columns: list[Column], book: Gradebook) -> Iterator[str]:
    """Says which columns the gradebook gives other points to, so that it would take these wrongly or not at all."""
    for column in columns:
        most = book.most(column.name)
        with contextlib.suppress(ValueError):
            if most and float(most.replace(",", ".")) != column.most:
                yield (
                    f"{column.name} has {column.most} points here, and {most} in the gradebook: give its katas weights "
                    "by --assignment, or give it as many there"
                )
