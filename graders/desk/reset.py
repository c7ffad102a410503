"""`reset`: the stub again, or what the kata goes on from; the attempt is kept, and it says where."""

from __future__ import annotations

import argparse
from pathlib import Path

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.catalogue.stub import begins_with
from graders.desk import attempts
from graders.desk.state import Event, State


def main(options: argparse.Namespace, root: Path) -> int:
    chosen = katas.find(options.katas, root)
    state = State(root)
    for kata in chosen:
        there = kata.answer_file.exists()
        kept = attempts.begin(state, kata, "reset")
        was = where_kept(state, kata, kept) if there else "nothing stood there"
        print(f"{attempts.shown(kata)} {stands_there(kata, 'reset')} again; {was}")
    state.close()
    return 0


def stands_there(kata: Kata, via: str) -> str:
    origin = begins_with(read_source(attempts.file_for(kata, via), "").text)
    return f"is your answer to {origin}" if origin else "is the stub"


def where_kept(state: State, kata: Kata, kept: Event | None) -> str:
    """What became of the file that stood there."""
    if kept is None:
        return "it was untouched"
    number = attempts.attempts_of(state, kata).index(kept) + 1
    return f"what stood there is kept:\n  nox -s history -- {kata.id} {number} --restore"
