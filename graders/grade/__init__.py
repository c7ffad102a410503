"""The command `grade`: several judges at once, and the pytest run that tells what they found."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import KATAS, seed, workers


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
    grade.add_argument("--shown", help=argparse.SUPPRESS)  # what a notebook calls the file that has its cell
    grade.add_argument("--device", choices=("cpu", "cuda", "all"), help="default: cpu, and also cuda if there is one")
    grade.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of the inputs; default: fixed, but drawn in CI and with --submission",
    )
    grade.add_argument(
        "--isolation",
        choices=("auto", "strict"),
        default="auto",
        help="`strict` refuses to grade where submissions cannot be isolated fully; see SECURITY.md",
    )
    grade.add_argument(
        "--workers",
        type=workers,
        metavar="N",
        help="judge up to N katas at once; default: as many as there are processors. One at a time on macOS and "
        "Windows, and with a GPU unless --device is cpu",
    )
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    grade.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    grade.add_argument("-k", metavar="EXPR", default="", help="only the checks whose names match, as in pytest")
    grade.add_argument("-x", action="store_true", help="stop each submission at its first failing check")
    grade.add_argument("--ci", action="store_true", help="exit 0 whatever the score, but 3 for a grader's own fault")
    grade.set_defaults(module="graders.grade.main")
