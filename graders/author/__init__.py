"""What tests the graders, for their authors: proofs, measurements, stubs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import KATAS

UNDER_PYTHON = ("new", "stub", "statement", "check")  # python -m graders …, where others have a session of nox


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    prove = commands.add_parser(
        "prove",
        help="prove the graders",
        description="Proves the graders: right answers pass, mistakes, mutants and cheats fail.",
    )
    prove.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    prove.add_argument(
        "--changed",
        metavar="REF",
        help="only katas that changed since the commit or branch REF, or all if graders/ or pyproject.toml changed",
    )
    prove.add_argument(
        "--shard", type=shard, default=(1, 1), metavar="K/N", help="only the K-th of N parts of the katas"
    )
    prove.add_argument(
        "--deep", action="store_true", help="also mutate the alternatives, and list the mutants that pass"
    )
    prove.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    bench = commands.add_parser(
        "bench",
        help="measure the judge",
        description="Measures the judge, in multiples of `import torch`; with `cohort`, the judging of a class; with "
        "`web`, the page to practise on.",
    )
    bench.add_argument(
        "what",
        nargs="?",
        choices=["judge", "cohort", "web"],
        default="judge",
        help="cohort: judges a class, for about half an hour; web: times the page to practise on, in Chromium",
    )
    bench.add_argument(
        "--runs",
        type=int,
        default=5,
        metavar="N",
        help="how often each command runs, long ones at most twice; default: 5",
    )
    bench.add_argument(
        "--answers",
        type=int,
        default=2000,
        metavar="N",
        help="about how many answers the class of `cohort` has; default: 2000",
    )
    soak = commands.add_parser(
        "soak",
        help="grade again and again on a busy machine",
        description="Grades answers again and again while other programs keep the machine busy; no verdict may differ.",
    )
    soak.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    soak.add_argument("--references", type=int, default=300, metavar="N", help="rounds of references; default: 300")
    soak.add_argument(
        "--others", type=int, default=50, metavar="N", help="rounds of alternatives and slow mistakes; default: 50"
    )
    new = commands.add_parser(
        "new",
        help="begin a kata",
        description="Writes the files of a new kata, with what is left to do in each.",
    )
    new.add_argument("kata", metavar="KATA", help="its name, such as layer_norm")
    new.add_argument("--like", required=True, metavar="OTHER", help="the kata whose form it should have")
    new.add_argument("--signature", metavar="TEXT", help="as 'layer_norm(x, eps=1e-5)'; default: OTHER's")
    new.add_argument("--topic", metavar="TOPIC", help="its folder; default: OTHER's")
    stub = commands.add_parser(
        "stub",
        help="write the stub of a kata",
        description="Writes a kata's stub from its reference, unless somebody has begun an answer in it.",
    )
    stub.add_argument("katas", nargs="+", metavar="KATA", help="which katas, by name, topic or path")
    statement = commands.add_parser(
        "statement",
        help="write the tables of a statement",
        description="Writes the tables of points and budgets into the README.md of katas, in place of all that follows "
        "'## What is graded'. The main README.md gets the list of all katas, and the address of pyproject.toml.",
    )
    statement.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    check = commands.add_parser(
        "check",
        help="say what a kata lacks",
        description="Says in a few words what katas lack, and where. `prove` says whether their graders are right.",
    )
    check.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    site = commands.add_parser(
        "site", help="build the pages", description="Builds a static site of the statements, without solutions."
    )
    site.add_argument("--out", type=Path, default=Path("site"), metavar="FOLDER", help="default: site")
    site.add_argument(
        "--scores",
        type=Path,
        metavar="FILE",
        help="a class's grades.csv: adds a page with the names and points of all its learners",
    )
    for name in ("prove", "bench", "soak", "new", "stub", "statement", "check", "site"):
        commands.choices[name].set_defaults(module=f"graders.author.{name}")


def shard(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"a shard should be like 1/4, got {text}")
    return int(number), int(count)
