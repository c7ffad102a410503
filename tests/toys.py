"""A small repository with two toy katas, and a way to grade files in it as a user would."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from graders import __main__ as cli
from graders.arguments import command_line
from graders.author import forked
from graders.author.forked import Ran
from graders.catalogue import katas
from graders.catalogue.stub import stub_of
from graders.faults import ROOT
from graders.judge import checks
from graders.judge.run import Options, source_of
from graders.judge.warm import WarmJudge
from graders.sandbox import submission
from graders.sandbox.launcher import forks, new_launcher
from graders.sandbox.machine import keep_freed_memory

GRADER = """
import torch
from graders.kata import Answer, Case, Grader

GRADER = Grader(
    answers=(
        Answer(
            "scale(x, factor=2.0)",
            oracle=lambda x, factor=2.0: x * factor,
            differentiable=("x",),
            cases=(
                Case("three_by_five", lambda draw: {"x": draw.normal(3, 5)}),
                Case("factors", lambda draw: [{"x": draw.normal(4), "factor": f} for f in (0.5, -3.0)]),
                Case("no_factor", lambda draw: {"x": draw.normal(2), "factor": 0.0}, raises=ValueError),
            ),
        ),
    ),
    banned=("mul", "ldexp"),
)


def test_twice_is_four_times(submission, draw):
    x = draw.normal(5)
    twice = submission.call("scale", x=submission.call("scale", x=x))
    assert torch.allclose(twice, 4 * x), "scaling twice should give 4x"
"""

REFERENCE = '''"""Scale."""


def scale(x, factor=2.0):
    """x times factor."""
    # --- solution
    # TODO: refuse a factor of 0, then divide by the inverse.
    if factor == 0:
        raise ValueError(f"factor should not be 0, got {factor}")
    return x / (1 / factor)
    # --- end
'''

MISTAKES = """
from graders.kata import Mistake

MISTAKES = (
    Mistake(
        "inverse",
        "the factor divides; multiply by it",
        {"x / (1 / factor)": ["x / factor", "x / factor / factor"]},
    ),
    Mistake("no_refusal", "a factor of 0 is accepted; refuse it", {"if factor == 0:": "if False:"}),
)
EQUIVALENT = {}
"""

MODULE_GRADER = """
import torch
from graders.kata import Answer, Case, Grader

GRADER = Grader(
    answers=(
        Answer(
            "Affine(width)",
            forward="(x)",
            parameters=lambda width: {"linear.weight": (width, width), "linear.bias": (width,)},
            oracle=lambda p, width, x: (x @ p["linear.weight"].mT + p["linear.bias"], x.sum(-1)),
            differentiable=("x",),
            cases=(
                Case("three_wide", lambda draw: {"x": draw.normal(4, 3)}, init={"width": 3}),
                Case("no_width", None, init={"width": 0}, raises=ValueError),
            ),
        ),
    ),
)
"""

MODULE_REFERENCE = '''"""Affine."""

from torch import nn


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        if width < 1:
            raise ValueError(f"width should be positive, got {width}")
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        # --- solution
        # TODO: the affine map, and the sum of x.
        return self.linear(x), x.sum(-1)
        # --- end
'''

BUDGET = """
            budgets=(
                Budget("many", sizes={"rows": (64, 1024)}, inputs=lambda draw, rows: {"x": draw.normal(rows)}),
            ),
"""
HALVES = REFERENCE.replace('"""Scale."""', '"""Twice the half.\n\nSlowly.\n"""').replace(
    "return x / (1 / factor)", "return x / (2 / factor) + x / (2 / factor)"
)

ABOUT = "---\ntitle: {0}\ntopic: {1}\nlevel: {2}\nafter: {3}\nminutes: {4}\n---\n\n# {0}\n"
NO_MISTAKES = "MISTAKES = ()\nEQUIVALENT = {}\n"


def make_repository(root: Path) -> Path:
    """Writes both toy katas under `root`, with untouched stubs."""
    for name, level, after, grader, reference, mistakes in (
        ("scale", 1, "[]", GRADER, REFERENCE, MISTAKES),
        ("affine", 2, "[scale]", MODULE_GRADER, MODULE_REFERENCE, NO_MISTAKES),
    ):
        kata = katas.Kata(root, "toys", name)
        kata.folder.mkdir(parents=True)
        kata.solutions.mkdir(parents=True)
        kata.statement.write_text(ABOUT.format(name, "toys", level, after, 15))
        kata.grader_file.write_text(grader)
        kata.reference_file.write_text(reference)
        kata.answer_file.write_text(stub_of(reference))
        (kata.solutions / "mistakes.py").write_text(mistakes)
    return root


def add_other(root: Path) -> None:
    """Gives scale a budget, and another right answer."""
    kata = katas.Kata(root, "toys", "scale")
    grader = GRADER.replace("import Answer", "import Answer, Budget").replace(
        "            cases=(", f"{BUDGET}            cases=("
    )
    kata.grader_file.write_text(grader)
    (kata.solutions / "alternatives").mkdir()
    (kata.solutions / "alternatives/two_halves.py").write_text(HALVES)


def make_clone(root: Path) -> Path:
    """The same with all that a user's clone has beside it, so that what is typed there is found there."""
    make_repository(root)
    shutil.copytree(ROOT / "graders", root / "graders", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / ".vscode", root / ".vscode")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    return root


def run(root: Path, *arguments: str, said: str = "", **environment: str) -> Ran:
    """The command line in a process of its own, piped, on the repository at `root`; `said` is what it reads.

    One that needs no other environment than these tests have is forked where torch is imported already.
    """
    if environment or not forks():
        return run_within((), "", root, *arguments, said=said, **environment)
    return forked.run(cli.main, arguments, root, variables(), said)


def variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR")}


def run_within(
    within: tuple[str, ...], first: str, root: Path, *arguments: str, said: str = "", **environment: str
) -> Ran:
    """As a user begins it, where `within` is a command that starts it, and `first` is what Python does before."""
    *python, code = command_line(root)
    done = subprocess.run(
        [*within, *python, first + code, *arguments],
        input=said,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=variables() | {"PYTHONIOENCODING": "utf-8"} | environment,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def written(root: Path, sources: Mapping[str, str | bytes]) -> list[Path]:
    """The files of submissions, by their names."""
    folder = root / "submissions"
    folder.mkdir(exist_ok=True)
    files = [folder / f"{name}.py" for name in sources]
    for path, source in zip(files, sources.values(), strict=True):
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return files


def grade(root: Path, kata: str, sources: Mapping[str, str | bytes], *more: str, **environment: str) -> dict[str, Any]:
    """Grades several submissions of one kata at once, under a fixed seed; results by name.

    A judge that stays does so, which takes a quarter of the time; the command where other options are given.
    """
    files = written(root, sources)
    if not more and not environment and forks():
        return dict(zip(sources, judged(root, kata, files), strict=True))
    arguments = [part for path in files for part in ("--submission", str(path))]
    output = root / "results.json"
    seed = () if "--seed" in more else ("--seed", "1")
    ran = run(root, "grade", kata, *arguments, "--json", str(output), *seed, *more, **environment)
    assert ran.status in (0, 1), ran
    results = json.loads(output.read_text(encoding="utf-8"))["results"]
    return dict(zip(sources, results, strict=True))


def judged(
    root: Path, kata: str, files: Sequence[Path], seed: int = 1, limit: float = 10.0, core: bool = False
) -> list[dict[str, Any]]:
    """The results of the judge that stays, as documents; where it is said, of the core's checks alone."""
    asking = judge_that_stays()
    asking.send((root, kata, files, seed, limit, core))
    results = asking.recv()
    assert isinstance(results, list), results
    return results


@functools.cache
def judge_that_stays() -> Connection:
    """Its process begins as the command does, and ends with the tests'."""
    asking, asked = forked.WARM.Pipe()
    forked.WARM.Process(target=be_judge, args=(asked,), daemon=True).start()
    made: Connection = asking
    return made


def be_judge(asked: Connection) -> None:
    """What its process does. One file after the other, each request with a judge of its own, as a command has."""
    os.chdir(ROOT)
    launcher = new_launcher()
    torch.set_num_threads(1)
    keep_freed_memory()
    with contextlib.suppress(EOFError), contextlib.closing(launcher):
        while True:
            root, name, files, seed, submission.LIMIT_SECONDS, core = asked.recv()
            judge, options = WarmJudge(launcher, seed), Options(seed=seed)
            try:
                kata = katas.find_one(name, root)
                chosen = {one.name for one in checks.plan(kata.grader, kata.module) if one.core} if core else None
                found = [
                    [*judge.each_check(kata, source_of(kata, file), options, selected=chosen)][-1][0] for file in files
                ]
                asked.send([one.document() for one in found])
            except Exception:
                asked.send(traceback.format_exc())
            finally:
                judge.close()


def failures(result: dict[str, Any]) -> dict[str, str]:
    """Check -> message, of the checks that did not pass."""
    return {test["name"]: test["message"] for test in result["tests"] if test["state"] != "pass"}


def end(child: Any) -> None:
    """Ends a program in a terminal: pexpect's own `close` gives up after 0.1 s, which is too soon on a busy machine."""
    child.kill(signal.SIGKILL)
    child.wait()
    child.close()
