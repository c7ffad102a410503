"""Debug rounds: `session` begins or resumes one, `draw` chooses its bugs, `claims` understands what is said of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import one_of, seed
from graders.catalogue.programs import LEAST_BUGS, MOST_IN_A_FILE, MOST_IN_A_PROGRAM, programs
from graders.sitting.options import add_choices, add_ways

USUAL_BUGS, MOST_BUGS = 2, 4
MINUTES_EACH = 10
MINUTES_FOR_EXTENSIONS = 20
DEFAULT_PROGRAM = "gpt"


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
        f"more; with --symptom from {LEAST_BUGS} to {MOST_IN_A_PROGRAM}, at most {MOST_IN_A_FILE} in a file; by "
        "default drawn"
    )
    debug.add_argument("--bugs", type=bugs, metavar="N", help=words)
    words = f"how long; default: {MINUTES_EACH} for each bug"
    debug.add_argument("--minutes", type=int, metavar="N", help=words)
    add_choices(debug, root)
    debug.add_argument(
        "--seed", type=seed, metavar="N", help="plant the same bugs again, if katas and options are the same"
    )
    known = programs(root)
    words = (
        "a symptom round: bugs in the files of a program, a symptom, and a script to run; when they are gone, the "
        f"round goes on in the same files; PROGRAM is one of {', '.join(known)}; default: {DEFAULT_PROGRAM}"
    )
    debug.add_argument(
        "--symptom", nargs="?", const=DEFAULT_PROGRAM, type=one_of("program", known), metavar="PROGRAM", help=words
    )
    debug.add_argument("--slow", action="store_true", help="bugs that give right values and cost too much")
    debug.set_defaults(module="graders.debugging.session")
    add_ways(debug, "round")


def bugs(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MOST_IN_A_PROGRAM:
        raise argparse.ArgumentTypeError(f"there should be 1 to {MOST_BUGS} bugs, got {value}")
    return value
