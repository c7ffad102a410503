"""`run`: runs a learner's own file as it is, with a case's real inputs at hand; nothing is judged or isolated.

Only `--tests` runs in a cage, since answers that are none of the learner's run there also.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import attempts, own_tests
from graders.desk.measured_tests import measure
from graders.desk.state import State
from graders.faults import PACK, ROOT, UsageError
from graders.judge.run import DEFAULT_SEED
from graders.judge.vectors import TestVectors
from graders.kata.scenario import on_ranks, source_of
from graders.kata.spec import Answer, Case
from graders.sandbox.launcher import new_launcher
from graders.sandbox.messages import floating, message_in
from graders.worker.communicator import messages, play

MESSAGES = "KATA_MESSAGES"  # in the environment: what ranks send is shown
PACE_SECONDS = 0.1  # between two looks at whether a run is outdated
SCRATCH = '''"""Yours to change: your answer with the inputs of {kata}'s case {case}.

Run it by  nox -s run -- {kata} --case {case}
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from katas import {ours}
from {kata} import {names}

{before}{calls}'''
CALLS = """for given in inputs("{kata}", "{case}"):
    print({call})
"""
ON_GLOO = """from katas.distributed.gloo import run_processes

chosen = next(given for given in inputs("{kata}", "{case}") if len(given["ranks"]) == {ranks})
ranks = chosen.pop("ranks")


def each(comm):
    return {scenario}(comm, {named}, **chosen)


if __name__ == "__main__":
    simulated = on_ranks({scenario}, {named}, ranks=ranks, **chosen)
    for (rank, right), found in zip(simulated.items(), run_processes({ranks}, each)):
        same = repr(found) == repr(right)
        print(rank, found, "as in the simulation" if same else f"where the simulation has {{right}}")
"""


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    if options.tests:
        return measure_tests(kata, options)
    if options.case and options.file:
        raise UsageError("--case writes a file of its own: name a file or a case, not both")
    if options.ranks is not None and not options.backend:
        raise UsageError("--ranks counts the processes that --backend gloo starts: add it, or leave out --ranks")
    processes = (2 if options.ranks is None else options.ranks) if options.backend else 0
    case = case_with(kata, processes, options.case) if options.backend else options.case
    file = scratch(kata, case, processes) if case else options.file or kata.answer_file
    if not file.is_file():
        what = "is no file" if file.exists() else "is not there"
        raise UsageError(f"{file} {what}; name your file, or a case with --case")
    state = State(root)
    attempts.opened(state, kata, "run")
    state.close()
    if options.messages:
        os.environ[MESSAGES] = "1"
    status = start(kata, file)
    if file == kata.answer_file and "__main__" not in file.read_text(encoding="utf-8", errors="replace"):
        shown = attempts.shown(kata)
        print(f'{shown} only defines things: call them below `if __name__ == "__main__":`, or name a case with --case')
    return status


def measure_tests(kata: Kata, options: argparse.Namespace) -> int:
    """Says how good a file of tests is; 1 where they fail on a right answer. Raises: UsageError, GraderError."""
    if options.case:
        raise UsageError("--tests measures tests and --case calls your answer: choose one of the two")
    file = options.file or kata.root / ".kata" / "run" / f"{kata.id}_test.py"
    if not file.exists():
        if options.file:
            raise UsageError(f"{file} is not there; name your file of tests")
        attempts.write(file, own_tests.template(kata))
        print(f"wrote {file.relative_to(kata.root)}: put your tests in, then run this again")
        return 0
    launcher = new_launcher()
    try:
        found = measure(launcher, kata, file)
    finally:
        launcher.close()
    print(found.in_words)
    return int(not found.right)


def start(kata: Kata, file: Path, outdated: Callable[[], bool] | None = None, **options: Any) -> int:
    """Runs a file in a process of its own, where `breakpoint()` works; its exit status, a signal's as in a shell.

    `outdated` is asked again and again, and ends it.
    """
    paths = [str(kata.folder), str(kata.root), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with subprocess.Popen([sys.executable, str(file)], cwd=kata.root, env=environment, **options) as process:
        while process.poll() is None:
            try:
                process.wait(PACE_SECONDS if outdated else None)
            except KeyboardInterrupt:  # it gets that too, and may go on: in pdb that ends nothing
                continue
            except subprocess.TimeoutExpired:
                if outdated and outdated():
                    process.kill()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def scratch(kata: Kata, name: str, processes: int = 0) -> Path:
    """A file that calls the learner's answer as a case does; one that is there already is left alone.

    With `processes`, the ranks of the case are so many of them.

    Raises: UsageError, GraderError.
    """
    answer, case = find(kata, name)
    file = kata.root / ".kata" / "run" / f"{kata.id}_{name}{f'_gloo_{processes}' * bool(processes)}.py"
    if not file.exists():
        before, call = f"{source_of(case.scenario)}\n\n" if case.scenario else "", f"{answer.name}(**given)"
        ours, calls, scenario, named = "inputs", CALLS, "", ""
        if case.scenario:
            taken = TestVectors(kata.id, kata.grader, DEFAULT_SEED).answers_in(case.scenario)
            scenario, named = case.scenario.__name__, ", ".join(f"{one}={one}" for one in taken)
            call = f"{scenario}({', '.join(taken)}, **given)"
            if on_ranks(case.scenario):
                ours, call = "inputs, on_ranks", f"on_ranks({scenario}, {named}, **given)"
                calls = ON_GLOO if processes else calls
        elif answer.forward:
            init = dict(TestVectors(kata.id, kata.grader, DEFAULT_SEED).constructed(case))
            before = f"module = {answer.name}(**{init!r})  # its parameters are not those of the case\n"
            call = "module(**given)"
        names = ", ".join(one.name for one in kata.grader.answers)
        facts = {"kata": kata.id, "case": name, "names": names, "before": before, "ours": ours}
        text = SCRATCH.format(
            **facts, calls=calls.format(**facts, call=call, scenario=scenario, named=named, ranks=processes)
        )
        attempts.write(file, text)
    print(f"{file.relative_to(kata.root)}:", flush=True)
    return file


def case_with(kata: Kata, ranks: int, name: str | None) -> str:
    """The first case, or the one of this name, in which so many ranks take part. Raises: UsageError, GraderError."""
    vectors, found = TestVectors(kata.id, kata.grader, DEFAULT_SEED), set[int]()
    answers = sorted(kata.grader.answers, key=lambda answer: answer.name != kata.id)
    for case in (case for answer in answers for case in answer.cases if case.name == (name or case.name)):
        worlds = {len(given.get("ranks", ())) for given in vectors.arguments(case)} - {0} if case.inputs else set()
        if ranks in worlds:
            return case.name
        found |= worlds
    has = f"it has {', '.join(map(str, sorted(found)))}" if found else "it has no ranks"
    raise UsageError(f"{kata.id} has no case {f'{name} ' * bool(name)}with {ranks} ranks: {has}")


def played_here(scenario: Callable[..., Any], ranks: list[int], given: dict[str, Any]) -> dict[str, Any]:
    """See `on_ranks` in katas/__init__.py. Shows the messages where that is wanted, also if a rank raises."""
    try:
        return play(scenario, ranks, **given)
    finally:
        if os.environ.get(MESSAGES):
            print(*map(message_in, messages()), sep="\n")


def find(kata: Kata, name: str) -> tuple[Answer, Case]:
    """Raises: UsageError, GraderError."""
    found = {case.name: (answer, case) for answer in kata.grader.answers for case in answer.cases if case.inputs}
    if name not in found:
        raise UsageError(f"{kata.id} has no case {name!r}; it has: {', '.join(found)}")
    return found[name]


def inputs_of(kata: str, case: str, seed: int) -> list[dict[str, Any]]:
    """See `inputs` in katas/__init__.py. Raises: UsageError, GraderError."""
    found = katas.find_one(kata, Path(os.environ.get(PACK, ROOT)))
    _, one = find(found, case)
    made = TestVectors(found.id, found.grader, seed).arguments(one)
    return [floating(given, one.dtypes[0]) for given in made]
