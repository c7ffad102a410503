"""`cohort`: grades a whole class with Dask. `learners` reads, `ledger` keeps the verdicts, `pages` tells."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

from graders.arguments import seed, workers

WHEN = "2026-12-15T23:59+01:00"
EXPORTS = ("canvas", "gradescope", "moodle", "nbgrader")


def deadline(text: str) -> datetime:
    from graders.cohort.repositories import moment  # which other commands need not import

    try:
        return moment(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a time should have its zone, as {WHEN} has, got {text}") from None


def percent(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"there should be 0 to 100 percent, got {text}")
    return value


def assignment(text: str) -> tuple[str, dict[str, float]]:
    """The name, and the weights of its katas or topics."""
    name, _, listed = text.rpartition("=")
    parts = [part.strip().partition(":") for part in listed.split(",")]
    try:
        weights = {kata: float(weight or 1) for kata, _, weight in parts}
    except ValueError:
        weights = {}
    if not name.strip() or not weights or not all(kata and 0 < weight < 1000 for kata, weight in weights.items()):
        raise argparse.ArgumentTypeError(f"an assignment should be like 'Homework 3=softmax,kmeans:0.5', got {text!r}")
    return name.strip(), weights


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
        help="a folder that has a folder, .zip or .tar for each learner; a download of submissions from Canvas or "
        "Moodle; or a .csv with the columns learner, repository and perhaps revision, until, extra_days, login, id, "
        "email, section",
    )
    cohort.add_argument("--out", type=Path, required=True, metavar="RESULTS", help="the folder for the results")
    cohort.add_argument(
        "--kata", action="append", default=[], metavar="KATA", help="judge only this kata or topic; repeatable"
    )
    cohort.add_argument(
        "--workers",
        type=workers,
        metavar="N",
        help="how many workers to run on this machine; default: one for each processor, or for each 2 GiB of memory if "
        "that is fewer",
    )
    cohort.add_argument("--scheduler", metavar="ADDRESS", help="join the cluster of this Dask scheduler instead")
    cohort.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of the inputs; default: a new one for answers that have no verdict yet",
    )
    cohort.add_argument(
        "--until",
        type=deadline,
        metavar="TIME",
        help=f"grade each repository's last commit up to TIME, such as {WHEN}; the newest if there is none; a "
        "learner's own `until` in the .csv takes the place of TIME",
    )
    cohort.add_argument(
        "--late",
        type=percent,
        metavar="PERCENT_A_DAY",
        help="also grade late answers, and take this percentage off their points for each day or part of a day",
    )
    cohort.add_argument(
        "--gradebook", type=Path, metavar="FILE", help="who is in the class: a .csv from Canvas's or Moodle's gradebook"
    )
    cohort.add_argument(
        "--earlier",
        type=Path,
        action="append",
        default=[],
        metavar="LEARNERS",
        help="an earlier class, whose answers are listed if they are the same as answers of this class; repeatable",
    )
    cohort.add_argument(
        "--isolation",
        choices=("strict", "limits"),
        default="strict",
        help="`limits` also grades where answers cannot be isolated fully; see SECURITY.md",
    )
    cohort.add_argument("--json", type=Path, metavar="FILE", help="write all results as one JSON document")
    cohort.add_argument(
        "--export", choices=EXPORTS, action="append", default=[], help="also write a table or files for this program"
    )
    cohort.add_argument(
        "--assignment",
        type=assignment,
        action="append",
        default=[],
        metavar="NAME=KATA[:WEIGHT],…",
        help="what is exported has one column for these katas or topics, of their points times their weights (1 where "
        "there is none), in place of a column for each kata; repeatable",
    )
    cohort.set_defaults(module="graders.cohort.main")
