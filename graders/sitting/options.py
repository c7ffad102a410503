"""What the commands' options have in common."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
from pathlib import Path

from graders.arguments import one_of
from graders.catalogue.katas import LEVELS, find_one, sets
from graders.faults import UsageError


def add_choices(command: argparse.ArgumentParser, root: Path) -> None:
    """Which katas may be drawn."""
    for name, choices, meant in (("topic", topics(root), functools.partial(topic_of, root)), ("level", LEVELS, str)):
        words = f"only katas of this {name}: {', '.join(map(str, choices))}"
        command.add_argument(f"--{name}", type=one_of(name, choices, meant), metavar=name.upper(), help=words)
    rounds = sets(root)
    words = f"only katas of this round: {', '.join(rounds)}"
    command.add_argument("--set", type=one_of("set", list(rounds)), metavar="NAME", help=words)


def add_ways(command: argparse.ArgumentParser, noun: str) -> None:
    """What to do with those that were."""
    which = command.add_mutually_exclusive_group()
    which.add_argument("--resume", action="store_true", help=f"go on with the {noun} that was cut off")
    which.add_argument("--new", action="store_true", help=f"give up the {noun} that was cut off, and begin another")
    words = f"show the report of {noun} N; default: the last"
    which.add_argument("--report", nargs="?", type=int, const=0, metavar="N", help=words)


def topic_of(root: Path, text: str) -> str:
    """A topic, or that of a kata by any of its names, which is said."""
    with contextlib.suppress(UsageError):
        if text not in topics(root):
            topic = find_one(text, root).topic
            print(f"{text} is of the topic {topic}", file=sys.stderr)
            return topic
    return text


def topics(root: Path) -> list[str]:
    return sorted({file.parents[1].name for file in (root / "katas").glob("*/*/grader.py")})
