"""Turns results.json into a Markdown table, or with --badge into a shields endpoint. Standard library only.

The file comes from a job that ran a learner's code, so nothing in it is trusted: names are checked against
the katas that exist, numbers are made numbers, and no other text is passed on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STATES = ("solved", "failing", "todo", "error")
LONGEST = 50 << 20


def main(arguments: list[str]) -> int:
    """Exit status: 2 where the file is no results document."""
    badge, paths = "--badge" in arguments, [argument for argument in arguments if argument != "--badge"]
    try:
        rows = read(Path(paths[0]))
    except (IndexError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        print(f"error: no results document: {type(error).__name__}", file=sys.stderr)  # the rest may quote the file
        return 2
    score, most = sum(row[2] for row in rows), sum(row[3] for row in rows)
    if badge:
        share = score / most if most else 0
        colour = "brightgreen" if share == 1 else "green" if share >= 0.75 else "yellow" if share >= 0.4 else "orange"
        print(json.dumps({"schemaVersion": 1, "label": "katas", "message": f"{score}/{most}", "color": colour}))
    else:
        print("| kata | verdict | score |\n| --- | --- | ---: |")
        for name, state, points, possible in rows:
            print(f"| {name} | {state} | {points}/{possible} |")
        print(f"| **all** | | **{score}/{most}** |")
    return 0


def read(path: Path) -> list[tuple[str, str, int, int]]:
    """(kata, state, score, most) for each kata of this repository that the document speaks of."""
    if path.stat().st_size > LONGEST:
        raise ValueError("too long")
    katas = {folder.name for folder in ROOT.glob("katas/*/*")}
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for result in document["results"]:
        name, state = result["kata"], result["state"]
        if name in katas and state in STATES:
            katas.remove(name)
            if type(result["score"]) is not int:
                raise ValueError("no score")
            rows.append((name, state, max(0, min(100, result["score"])), 100))
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
