"""The page of a class's scores, from the grades.csv that `nox -s cohort` writes."""

from __future__ import annotations

import csv
import io
from html import escape
from pathlib import Path

from graders.cohort.repositories import ABOUT
from graders.faults import UsageError

FULL = 100  # points of a kata
NO_TABLE = "is no grades.csv as `nox -s cohort` writes it"


def scores_page(path: Path) -> str:
    """Raises: UsageError where the file is not such a table."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a grades.csv with --scores") from None
    except ValueError as error:
        raise UsageError(f"{path} {NO_TABLE}: {error}") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = next(reader, [])
        if columns[:1] + columns[-2:] != ["learner", "solved", "total"]:
            told = ",".join(columns)
            raise ValueError(f"the columns should begin with learner and end with solved,total, got {told!r}")
        names = [name for name in columns[1:-2] if name not in ABOUT]
        lines = "\n".join(line(row, columns, names) for row in reader)
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{path}:{max(reader.line_num, 1)} {NO_TABLE}: {error}") from None
    return f"""# Scores

{len(names)} katas, {FULL} points each.

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
    if len(row) != len(columns):
        raise ValueError(f"there should be {len(columns)} cells, got {len(row)}")
    cells = dict(zip(columns, row, strict=True))
    points = [whole(cells[name] or "0", name, FULL) for name in names]
    if whole(cells["total"], "total", FULL * len(names)) != sum(points):
        raise ValueError(f"the total should be {sum(points)}, got {cells['total']}")
    solved = whole(cells["solved"], "solved", len(names))
    name = escape(" ".join(cells["learner"].split()))
    return f'<tr><th scope="row">{name}</th><td>{solved}</td><td>{sum(points)}</td></tr>'


def whole(text: str, column: str, most: int) -> int:
    """Points. Raises: ValueError."""
    if not (text.isascii() and text.isdecimal() and int(text[:9]) <= most):
        raise ValueError(f"{column} should be from 0 to {most}, got {text!r}")
    return int(text)
