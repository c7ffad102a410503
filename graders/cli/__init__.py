"""The commands `grade` (several judges at once, and the pytest run that tells what they found) and `cohort`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

KATAS = "which katas, by name, topic or path; all of them by default"
EXPORTS = ("canvas", "gradescope", "nbgrader")


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    grade = commands.add_parser("grade", help="grade the learner's files", description="Grades the learner's files.")
    grade.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    grade.add_argument("--reference", action="store_true", help="grade the reference solutions instead")
    grade.add_argument(
        "--submission",
        action="append",
        default=[],
        metavar="FILE",
        type=Path,
        help="grade FILE as an answer to the one KATA named; repeatable",
    )
    grade.add_argument("--device", choices=("cpu", "cuda", "all"), help="default: cpu, and cuda too where there is one")
    grade.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="what the inputs are made from; default: fixed, drawn in CI and with --submission",
    )
    grade.add_argument(
        "--isolation",
        choices=("auto", "strict"),
        default="auto",
        help="strict refuses to grade where submissions cannot be isolated fully; see SECURITY.md",
    )
    grade.add_argument(
        "--workers", type=workers, metavar="N", help="judge N katas at once; default: as many as there are processors"
    )
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    grade.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    grade.add_argument("-k", metavar="EXPR", default="", help="only the checks whose names match, as in pytest")
    grade.add_argument("-x", action="store_true", help="stop each submission at its first failing check")
    grade.add_argument("--ci", action="store_true", help="exit 0 whatever the score; 3 on a grader's own fault")
    grade.set_defaults(module="graders.cli.grade")
    add_cohort(commands)


def add_cohort(commands: argparse._SubParsersAction[Any]) -> None:
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
    cohort.add_argument("--seed", type=seed, metavar="N", help="what the inputs are made from; default: drawn once")
    cohort.add_argument(
        "--isolation",
        choices=("strict", "limits"),
        default="strict",
        help="limits grades where answers cannot be isolated fully, too; see SECURITY.md",
    )
    cohort.add_argument("--json", type=Path, metavar="FILE", help="write all results as one JSON document")
    cohort.add_argument("--export", choices=EXPORTS, action="append", default=[], help="also write what this imports")
    cohort.set_defaults(module="graders.cli.cohort.main")


def workers(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"there should be at least 1 worker, got {value}")
    return value


def seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 32:
        raise argparse.ArgumentTypeError(f"a seed should be from 0 to {2**32 - 1}, got {value}")
    return value


def command_line(root: Path) -> list[str]:
    """What starts this command line in a process of its own, on the repository at `root`."""
    code = f"import pathlib; from graders import __main__ as m; m.leave(m.main(root=pathlib.Path({str(root)!r})))"
    return [sys.executable, "-c", code]
