"""Debug rounds: `session` begins or resumes one, `draw` chooses its bugs, `claims` understands what is said of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import seed
from graders.sitting.options import add_choices, add_ways

USUAL_BUGS, MOST_BUGS = 2, 4
MINUTES_EACH = 10


def add_commands(commands: argparse._SubParsersAction[Any], root: Path) -> None:
    debug = commands.add_parser(
        "debug",
        help="find planted bugs",
        description="Plants bugs in a right answer for you to find, explain and mend, with a clock and a report.",
    )
    words = (
        "which katas: each gets at least one bug, if --bugs is high enough; if you name a topic, one kata is drawn "
        "from all that you name; default: one that is due, that you began or that has level 1; with --set, two of the "
        "set"
    )
    debug.add_argument("katas", nargs="*", metavar="KATA", help=words)
    words = (
        f"how many, from 1 to {MOST_BUGS}; default: {USUAL_BUGS}, or 1 with --slow; or one for each kata, if that is "
        "more"
    )
    debug.add_argument("--bugs", type=bugs, metavar="N", help=words)
    words = f"how long; default: {MINUTES_EACH} for each bug"
    debug.add_argument("--minutes", type=int, metavar="N", help=words)
    add_choices(debug, root)
    debug.add_argument(
        "--seed", type=seed, metavar="N", help="plant the same bugs again, if katas and options are the same"
    )
    debug.add_argument("--slow", action="store_true", help="bugs that give right values and cost too much")
    debug.set_defaults(module="graders.debugging.session")
    add_ways(debug, "round")


def bugs(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MOST_BUGS:
        raise argparse.ArgumentTypeError(f"there should be 1 to {MOST_BUGS} bugs, got {value}")
    return value
