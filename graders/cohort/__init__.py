"""`cohort`: grades a whole class with Dask. `learners` reads, `ledger` keeps the verdicts, `pages` tells."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import seed, workers

EXPORTS = ("canvas", "gradescope", "nbgrader")


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    cohort = commands.add_parser(
        "cohort",
        help="grade a whole class",
        description="Grades every learner's answer to every kata, with the graders of this repository.",
    )
    cohort.add_argument(
        "learners",
        type=Path,
        metavar="LEARNERS",
        help="a folder that has a folder, .zip or .tar of each learner; or a .csv with the columns learner, repository "
        "and perhaps revision",
    )
    cohort.add_argument("--out", type=Path, required=True, metavar="RESULTS", help="the folder that takes the results")
    cohort.add_argument("--kata", action="append", default=[], metavar="KATA", help="only this kata; repeatable")
    cohort.add_argument(
        "--workers",
        type=workers,
        metavar="N",
        help="of the cluster made here; default: one for each processor, or for each 2 GiB of memory if that is fewer",
    )
    cohort.add_argument("--scheduler", metavar="ADDRESS", help="join the cluster of this Dask scheduler instead")
    cohort.add_argument(
        "--seed", type=seed, metavar="N", help="what the inputs are made from; default: a fresh one for what is new"
    )
    cohort.add_argument(
        "--isolation",
        choices=("strict", "limits"),
        default="strict",
        help="limits grades where answers cannot be isolated fully, too; see SECURITY.md",
    )
    cohort.add_argument("--json", type=Path, metavar="FILE", help="write all results as one JSON document")
    cohort.add_argument("--export", choices=EXPORTS, action="append", default=[], help="also write what this imports")
    cohort.set_defaults(module="graders.cohort.main")
