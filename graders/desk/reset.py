"""`reset`: the stub again; the attempt is kept, and it says where."""

from __future__ import annotations

import argparse
from pathlib import Path

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.state import Event, State


def main(options: argparse.Namespace, root: Path) -> int:
    chosen = katas.find(options.katas, root)
    state = State(root)
    for kata in chosen:
        there = kata.answer_file.exists()
        kept = attempts.begin(state, kata, "reset")
        was = where_kept(state, kata, kept) if there else "nothing stood there"
        print(f"{attempts.shown(kata)} is the stub again; {was}")
    state.close()
    return 0


def where_kept(state: State, kata: Kata, kept: Event | None) -> str:
    """What became of the file that stood there."""
    if kept is None:
        return "it was untouched"
    number = attempts.attempts_of(state, kata).index(kept) + 1
    return f"what stood there is kept:\n  nox -s history -- {kata.id} {number} --restore"
