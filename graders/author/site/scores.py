"""The page of a class's scores, from the grades.csv that `nox -s cohort` writes."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path

from graders.cohort.repositories import ABOUT
from graders.faults import UsageError

FULL = 100  # points of a kata


def scores_page(path: Path) -> str:
    """Raises: UsageError where the file is not such a table."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            (first, *columns, last), *rows = csv.reader(stream, strict=True)
        names = [name for name in columns if name not in ABOUT]
        if (first, last) != ("learner", "total"):
            raise ValueError(f"its first line should begin with learner and end with total, got {first} and {last}")
        lines = "\n".join(line(row, ["learner", *columns, "total"], names) for row in rows)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a grades.csv with --scores") from None
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{path} is no grades.csv as `nox -s cohort` writes it: {error}") from None
    return f"""# Scores

Of {len(names)} katas with {FULL} points each.

<div class="scores">
<table>
<thead><tr><th scope="col">learner</th><th scope="col">solved</th><th scope="col">points</th></tr></thead>
<tbody>
{lines}
</tbody>
</table>
</div>
"""


def line(row: list[str], columns: list[str], names: list[str]) -> str:
    """Of the table. Raises: ValueError."""
    learner, *_, total = row
    cells = dict(zip(columns, row, strict=False))
    points = [int(cells.get(name) or 0) for name in names]
    if len(row) != len(columns) or not all(0 <= one <= FULL for one in points) or int(total) != sum(points):
        raise ValueError(f"the line of {learner!r} does not add up")
    name = escape(" ".join(learner.split()))
    return f'<tr><th scope="row">{name}</th><td>{points.count(FULL)}</td><td>{sum(points)}</td></tr>'
