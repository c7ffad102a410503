"""The mock interview: `session` begins or resumes one, `interview` holds it, `record` says what its events come to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import one_of
from graders.sitting.options import add_choices, add_ways

PAGE = Path(".kata/partner.html")  # not next to the files that a candidate opens


def add_commands(commands: argparse._SubParsersAction[Any], root: Path) -> None:
    interview = commands.add_parser(
        "interview", help="a timed mock interview", description="Interviews you, with a clock and a report."
    )
    interview.add_argument("--minutes", type=int, default=45, metavar="N", help="how long; default: 45")
    interview.add_argument(
        "--katas", type=one_of("number of katas", (1, 2, 3)), metavar="N", help="how many; default: as the time allows"
    )
    add_choices(interview, root)
    interview.add_argument(
        "--seed", type=int, metavar="N", help="draw the same katas again, if the other options are the same"
    )
    interview.add_argument(
        "--partner",
        nargs="?",
        type=Path,
        const=PAGE,
        metavar="FILE",
        help="a friend interviews you: FILE is the page for them, with the answers and a score sheet; the "
        f"terminal grades your code and keeps the clock; default: {PAGE}",
    )
    interview.set_defaults(module="graders.interview.session")
    add_ways(interview, "interview")
