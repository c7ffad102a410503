"""The learner's desk: what practises and remembers around the judge, which knows nothing of it.

Every command is a module here, with `main(options, root)`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graders.arguments import KATAS


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    watch = add(commands, "watch", "grade on every save", "Grades a kata whenever its file is saved.")
    watch.add_argument(
        "kata",
        nargs="?",
        metavar="KATA",
        help="which kata; default: the next one to do, or with --review the one that has been due the longest",
    )
    watch.add_argument("--path", metavar="NAME", help="go along a path of katas/paths.yaml, such as llm")
    watch.add_argument("--review", action="store_true", help="grade what `review` began, instead of your answers")
    watch.add_argument("--poll", action="store_true", help="look for saves ten times a second, for network folders")

    read = add(commands, "read", "show a kata's statement", "Shows what a kata asks, with its formulas drawn.")
    read.add_argument("kata", metavar="KATA", help="which kata")
    read.add_argument("--all", action="store_true", help="also the full contract and what is graded")

    run = add(commands, "run", "run your file as it is", "Runs your file in this terminal; your answer is not judged.")
    run.add_argument("kata", metavar="KATA", help="which kata")
    run.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="run this file instead of your answer; with --tests, the file with your tests",
    )
    run.add_argument(
        "--case", metavar="CASE", help="call your answer with this case's inputs, from a file that you may change"
    )
    run.add_argument("--messages", action="store_true", help="with --case, also show what the ranks send each other")
    run.add_argument("--backend", choices=["gloo"], help="run each rank in a process of its own, by torch.distributed")
    run.add_argument("--ranks", type=int, metavar="N", help="with --backend, how many; default: 2")
    run.add_argument(
        "--tests",
        action="store_true",
        help="measure your tests by a right answer and known mistakes; default FILE: .kata/run/KATA_test.py",
    )

    hint = add(
        commands,
        "hint",
        "show the next hint",
        "Shows one more of three hints with every call: a nudge, the idea, nearly the code.",
    )
    hint.add_argument("kata", metavar="KATA", help="which kata")
    hint.add_argument("--again", action="store_true", help="show only hints that were shown before; costs nothing")

    status = add(commands, "status", "show the map of topics and katas", "Shows how far you have come.")
    status.add_argument("katas", nargs="*", metavar="KATA", help=KATAS)
    status.add_argument(
        "--asked", action="store_true", help="those first that interviewers ask often, as candidates report"
    )
    status.add_argument("--json", action="store_true", help="as JSON")
    status.add_argument("--path", metavar="NAME", help="only a path of katas/paths.yaml, such as llm")

    reset = add(commands, "reset", "start a kata anew", "Saves the attempt and puts the stub in its place.")
    reset.add_argument("katas", nargs="+", metavar="KATA", help="which katas")

    history = add(commands, "history", "list attempts, or bring one back", "Lists the attempts of a kata.")
    history.add_argument("kata", metavar="KATA", help="which kata")
    history.add_argument("number", nargs="?", type=int, metavar="N", help="show attempt N as it stood in the file")
    history.add_argument("-d", "--diff", type=int, metavar="M", help="show what changed from attempt M to attempt N")
    history.add_argument("--restore", action="store_true", help="put attempt N in the place of your file")

    review = add(
        commands, "review", "what is due today", "Begins the kata that has been due the longest, in a file of its own."
    )
    review.add_argument(
        "--todo", action="store_true", help="begin with the docstrings and TODOs, not only the signatures"
    )
    review.add_argument(
        "--until",
        metavar="DAY",
        help="plan for a day such as 2026-12-15: katas whose core was right come back before that day, if --a-day "
        "leaves room; `none` ends the plan",
    )
    review.add_argument("--a-day", metavar="N", help="at most N reviews a day, and the others wait; `none`: no limit")
    review.add_argument("--list", action="store_true", help="only list what is due")
    review.add_argument("--export", type=Path, metavar="FILE", help="write all that you did here to FILE")
    review.add_argument("--import", type=Path, metavar="FILE", dest="merge", help="add what an exported FILE holds")

    update = add(commands, "update", "get the newest katas", "Merges the newest katas and graders; answers stay.")
    update.add_argument(
        "--from", dest="source", metavar="ADDRESS", help="the repository that you forked; git remembers it"
    )


def add(
    commands: argparse._SubParsersAction[Any], name: str, summary: str, description: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=description)
    made.set_defaults(module=f"graders.desk.{name}")
    return made
