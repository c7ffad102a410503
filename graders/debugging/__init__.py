"""Debug rounds: `session` begins or resumes one, `draw` chooses its bugs, `claims` understands what is said of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import one_of, seed
from graders.catalogue.katas import LEVELS, sets

USUAL_BUGS, MOST_BUGS = 2, 4
MINUTES_EACH = 10


def add_commands(commands: argparse._SubParsersAction[Any], root: Path) -> None:
    debug = commands.add_parser(
        "debug",
        help="find planted bugs",
        description="Plants bugs in a right answer for you to find, explain and mend, with a clock and a report.",
    )
    words = "which katas, by name, topic or path; by default one that you have solved or begun, else one of level 1"
    debug.add_argument("katas", nargs="*", metavar="KATA", help=words)
    debug.add_argument("--bugs", type=bugs, default=2, metavar="N", help=f"how many, from 1 to {MOST_BUGS}; default: 2")
    words = f"how long; default: {MINUTES_EACH} for each bug"
    debug.add_argument("--minutes", type=int, metavar="N", help=words)
    topics = sorted({file.parents[1].name for file in (root / "katas").glob("*/*/grader.py")})
    for name, choices in (("topic", topics), ("level", LEVELS)):
        words = f"only katas of this {name}: {', '.join(map(str, choices))}"
        debug.add_argument(f"--{name}", type=one_of(name, choices), metavar=name.upper(), help=words)
    rounds = sets(root)
    words = f"only katas of this round: {', '.join(rounds)}"
    debug.add_argument("--set", type=one_of("set", list(rounds)), metavar="NAME", help=words)
    debug.add_argument("--seed", type=seed, metavar="N", help="plant the same bugs again")
    debug.add_argument("--slow", action="store_true", help="bugs that give right values and cost too much")
    which = debug.add_mutually_exclusive_group()
    which.add_argument("--resume", action="store_true", help="go on with the one that was cut off")
    which.add_argument("--new", action="store_true", help="give up the one that was cut off, and begin another")
    words = "show the report of round N; default: the last"
    which.add_argument("--report", nargs="?", type=int, const=0, metavar="N", help=words)
    debug.set_defaults(module="graders.debugging.session")


def bugs(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MOST_BUGS:
        raise argparse.ArgumentTypeError(f"there should be 1 to {MOST_BUGS} bugs, got {value}")
    return value
