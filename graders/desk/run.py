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
from graders.faults import ROOT, UsageError
from graders.judge.run import DEFAULT_SEED
from graders.judge.vectors import TestVectors
from graders.kata.scenario import source_of
from graders.kata.spec import Answer, Case
from graders.sandbox.launcher import new_launcher
from graders.sandbox.messages import floating

PACE_SECONDS = 0.1  # between two looks at whether a run is outdated
SCRATCH = '''"""Yours to change: your answer with the inputs of {kata}'s case {case}.

Run it by  nox -s run -- {kata} --case {case}
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from katas import inputs
from {kata} import {names}

{before}for given in inputs("{kata}", "{case}"):
    print({call})
'''


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    if options.tests:
        return measure_tests(kata, options)
    if options.case and options.file:
        raise UsageError("--case writes a file of its own: name a file or a case, not both")
    file = scratch(kata, options.case) if options.case else options.file or kata.answer_file
    if not file.is_file():
        what = "is no file" if file.exists() else "is not there"
        raise UsageError(f"{file} {what}; name your file, or a case with --case")
    state = State(root)
    attempts.opened(state, kata, "run")
    state.close()
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
    paths = [str(kata.folder), str(kata.root), os.environ.get("PYTHONPATH", "")]
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


def scratch(kata: Kata, name: str) -> Path:
    """A file that calls the learner's answer as a case does; one that is there already is left alone.

    Raises: UsageError, GraderError.
    """
    answer, case = find(kata, name)
    file = kata.root / ".kata" / "run" / f"{kata.id}_{name}.py"
    if not file.exists():
        before, call = f"{source_of(case.scenario)}\n\n" if case.scenario else "", f"{answer.name}(**given)"
        if case.scenario:
            taken = TestVectors(kata.id, kata.grader, DEFAULT_SEED).answers_in(case.scenario)
            call = f"{case.scenario.__name__}({', '.join(taken)}, **given)"
        elif answer.forward:
            init = dict(TestVectors(kata.id, kata.grader, DEFAULT_SEED).constructed(case))
            before = f"module = {answer.name}(**{init!r})  # its parameters are not those of the case\n"
            call = "module(**given)"
        names = ", ".join(one.name for one in kata.grader.answers)
        attempts.write(file, SCRATCH.format(kata=kata.id, case=name, names=names, before=before, call=call))
    print(f"{file.relative_to(kata.root)}:", flush=True)
    return file


def find(kata: Kata, name: str) -> tuple[Answer, Case]:
    """Raises: UsageError, GraderError."""
    found = {case.name: (answer, case) for answer in kata.grader.answers for case in answer.cases if case.inputs}
    if name not in found:
        raise UsageError(f"{kata.id} has no case {name!r}; it has: {', '.join(found)}")
    return found[name]


def inputs_of(kata: str, case: str, seed: int) -> list[dict[str, Any]]:
    """See `inputs` in katas/__init__.py. Raises: UsageError, GraderError."""
    found = katas.find_one(kata, ROOT)
    _, one = find(found, case)
    made = TestVectors(found.id, found.grader, seed).arguments(one)
    return [floating(given, one.dtypes[0]) for given in made]
