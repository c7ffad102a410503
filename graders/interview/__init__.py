"""The mock interview: `session` begins or resumes one, `interview` holds it, `record` says what its events come to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.sitting.options import add_choices, add_ways


def add_commands(commands: argparse._SubParsersAction[Any], root: Path) -> None:
    interview = commands.add_parser(
        "interview", help="a timed mock interview", description="Interviews you, with a clock and a report."
    )
    interview.add_argument("--minutes", type=int, default=45, metavar="N", help="how long; default: 45")
    add_choices(interview, root)
    interview.add_argument("--seed", type=int, metavar="N", help="draw the same katas again")
    interview.set_defaults(module="graders.interview.session")
    add_ways(interview, "interview")
