"""What is measured now, for whoever waits: some measurements take minutes."""

from __future__ import annotations

import sys

WIDTH = 79  # of a line that the next one is written over


def tell(what: str) -> None:
    """Says it on stderr, so that stdout has the figures alone."""
    print(f"{what[:WIDTH]:{WIDTH}}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
