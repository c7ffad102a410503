"""`bench`: what judging costs a user, as one table: of the judge, of a class (`cohort`) or of the page (`web`).

Times are multiples of `python -c "import torch"`, measured in the same run.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from graders.author.bench.measuring import torch_seconds
from graders.judge import screen


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a figure misses its goal."""
    bench = importlib.import_module(f"graders.author.bench.{options.what}")  # each needs its own libraries
    torch, fine = torch_seconds(options.runs), True
    made = screen.table("figure.", "got", ".", "goal", ".")
    for what, got, unit, goal in bench.figures(root, options, torch):
        met = goal is None or (got >= -goal if goal < 0 else got <= goal)
        fine &= met
        words = "" if goal is None else f"at least {-goal:g}" if goal < 0 else f"at most {goal:g}"
        made.add_row(what, f"{got:.2f}", unit, words, "" if goal is None else "ok" if met else "MISSED")
    console = screen.console()
    console.print(made)
    console.print(f'python -c "import torch" takes {torch:.2f} s here')
    return int(not fine)
