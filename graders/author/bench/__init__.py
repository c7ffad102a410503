"""`bench`: what grading costs a user and where that goes, and what the references cost beside torch's own operators.

Times of whole commands are multiples of `python -c "import torch"`, measured in the same run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from graders.author.bench import breakdown, references, speed
from graders.judge import card


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a figure misses its goal."""
    console = card.console()
    if options.what == "cohort":
        from graders.author.bench import cohort  # it needs Dask

        return int(not cohort.show(console, root, options.answers))
    if options.what == "web":
        from graders.author.bench import web  # it needs Playwright

        return int(not web.show(console, root, options.runs))
    fine = speed.show(console, root, options.runs)
    fine &= speed.show_watch(console, root, options.runs)
    breakdown.show(console, root)
    references.show(console, root, options.runs)
    return int(not fine)
