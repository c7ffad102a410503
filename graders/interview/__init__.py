"""The mock interview: `session` begins or resumes one, `interview` holds it, `record` says what its events come to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import one_of
from graders.catalogue.katas import LEVELS, sets


def add_commands(commands: argparse._SubParsersAction[Any], root: Path) -> None:
    interview = commands.add_parser(
        "interview", help="a timed mock interview", description="Interviews you, with a clock and a report."
    )
    interview.add_argument("--minutes", type=int, default=45, metavar="N", help="how long; default: 45")
    for name, choices in (("topic", topics(root)), ("level", LEVELS)):
        words = f"only katas of this {name}: {', '.join(map(str, choices))}"
        interview.add_argument(f"--{name}", type=one_of(name, choices), metavar=name.upper(), help=words)
    rounds = sets(root)
    words = f"only katas of this round: {', '.join(rounds)}"
    interview.add_argument("--set", type=one_of("set", list(rounds)), metavar="NAME", help=words)
    interview.add_argument("--seed", type=int, metavar="N", help="draw the same katas again")
    interview.set_defaults(module="graders.interview.session")
    which = interview.add_mutually_exclusive_group()
    which.add_argument("--resume", action="store_true", help="go on with the one that was cut off")
    which.add_argument("--new", action="store_true", help="give up the one that was cut off, and begin another")
    which.add_argument(
        "--report", nargs="?", type=int, const=0, metavar="N", help="show the report of interview N; default: the last"
    )


def topics(root: Path) -> list[str]:
    return sorted({file.parents[1].name for file in (root / "katas").glob("*/*/grader.py")})
