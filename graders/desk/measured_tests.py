"""How good tests of one's own are: run with a right answer, which they should pass, and with known mistakes."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from graders.catalogue.bugs import bugs_of, planted, right_file
from graders.catalogue.katas import Kata
from graders.desk import own_tests
from graders.faults import UsageError
from graders.sandbox.launcher import Launcher, forks
from graders.worker.script import has_tests

SAMPLED = 12  # mistakes
EACH_SECONDS, WHOLE_SECONDS = 10.0, 120.0
SAYS = re.compile(r"^MEASURED ([01]+)$", re.MULTILINE)
STARTING_SECONDS = 30.0  # for a process that imports torch anew
# Where processes are forked, torch and pytest are imported once, and a child of that process tests each answer.
DRIVER = """import os, shutil, signal, subprocess, sys, time

import torch
try:
    import pytest
except ImportError:
    pytest = None

ANSWER, SCRIPT, COUNT, LIMIT, TESTED, FORKS = {answer!r}, {script!r}, {count}, {limit}, {tested}, {forks}
PYTEST = ["-q", "-x", "-p", "no:cacheprovider"]


def child():
    null = os.open(os.devnull, os.O_RDWR)
    for place in range(3):
        os.dup2(null, place)
    if TESTED and pytest:
        return pytest.main([*PYTEST, SCRIPT])
    import runpy
    runpy.run_path(SCRIPT, run_name="__main__")
    return 0


def passes(number):
    shutil.copy(f"answer_{{number}}.py", ANSWER)
    if not FORKS:
        command = [sys.executable, *(["-m", "pytest", *PYTEST] if TESTED and pytest else []), SCRIPT]
        try:
            return not subprocess.run(command, capture_output=True, timeout=LIMIT + {starting}).returncode
        except subprocess.TimeoutExpired:
            return False
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = int(child())
        finally:
            os._exit(status)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


print("MEASURED", "".join(str(int(passes(number))) for number in range(COUNT)))
"""


@dataclass(frozen=True)
class Measured:
    """What came of it.

    Args:
        right: whether the tests pass with a right answer.
        caught: mistakes with which they fail; none where they fail with a right answer.
        known: mistakes that they were run with.
    """

    right: bool
    caught: int
    known: int

    @property
    def in_words(self) -> str:
        if not self.right:
            return "your tests fail on a right answer"
        return f"your tests pass on a right answer, and catch {self.caught} of {self.known} known mistakes"


def measure(launcher: Launcher, kata: Kata, script: Path) -> Measured:
    """Raises: UsageError where they cannot be run, GraderError."""
    if not kata.reference_file.exists():
        raise UsageError("tests are measured by the reference and known mistakes, and solutions/ is not here")
    name, text = own_tests.readable(script)
    right, bugs = right_file(kata), bugs_of(kata)
    some = random.Random(kata.id).sample(bugs, min(SAMPLED, len(bugs)))
    answers = [right, *(planted(right, [bug]) for bug in some)]
    files = {f"answer_{number}.py": answer for number, answer in enumerate(answers)}
    driver = DRIVER.format(
        answer=f"{kata.id}.py",
        script=name,
        count=len(answers),
        limit=EACH_SECONDS,
        tested=has_tests(text),
        forks=forks(),
        starting=STARTING_SECONDS,
    )
    files |= {name: text, "measure.py": driver}
    whole = WHOLE_SECONDS if forks() else WHOLE_SECONDS + STARTING_SECONDS * len(answers)
    ran = own_tests.started(launcher, files, "measure.py", whole, 80)
    found = SAYS.search(ran.text)
    if found is None:
        raise UsageError(f"{name} cannot be measured: it {ran.ending}")
    passed = [sign == "1" for sign in found[1]]
    return Measured(passed[0], passed[0] * sum(not one for one in passed[1:]), len(some))
