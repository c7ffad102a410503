"""What a candidate does while writing: runs tests of their own, has the answer graded, takes help for points."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from graders.desk import attempts
from graders.faults import GraderError, UsageError
from graders.files import replace_file
from graders.interview import own_tests
from graders.interview.interview import VIA, Interview
from graders.interview.reporter import InterviewReporter
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS

TEMPLATE = '''"""My own tests of {kata}; `run` runs them."""

import torch

from {kata} import {names}


def test_an_example_worked_by_hand():
    # got = {name}(...)
    # assert torch.allclose(got, torch.tensor(...))
    raise NotImplementedError("write an example whose result you know")
'''


def run(interview: Interview, argument: str) -> None:
    try:
        script = tests_file(interview, argument)
        missing = not script.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a home that nobody has
        raise UsageError(f"{argument} cannot be run ({error}); name your file of tests") from None
    if missing and argument:
        raise UsageError(f"{argument} does not exist; name your file of tests, or type `run` alone")
    if missing:
        offer(interview, script)
        return
    console = interview.terminal.console
    with console.status(f"running {script.name}") if console.is_terminal else contextlib.nullcontext():
        ran = own_tests.run(interview.judge.launcher, interview.file, script, console.width)
    if ran.text:
        interview.say(ran.text)
    interview.say(f"{script.name}: {ran.ending}")
    interview.note("run", file=str(script), passed=ran.passed)


def tests_file(interview: Interview, name: str) -> Path:
    """As it was named, or beside the answer; by default the last one."""
    folder = interview.file.parent
    if not name:
        return Path(interview.round.runs[-1][0]) if interview.round.runs else folder / f"{interview.kata.id}_test.py"
    given = Path(name).expanduser().absolute()
    return folder / name if (folder / name).exists() and not given.exists() else given


def offer(interview: Interview, script: Path) -> None:
    """A first file of tests. Raises: UsageError."""
    shown = os.path.relpath(script, interview.kata.root)
    if not interview.confirm(f"{shown} is not there yet. Write a small one to start from?"):
        interview.say("write one of your own, and name it: run FILE")
        return
    names = [answer.name for answer in interview.kata.grader.answers]
    replace_file(script, TEMPLATE.format(kata=interview.kata.id, names=", ".join(names), name=names[0]))
    interview.say(f"wrote {shown}: put your examples in, then `run`")


def submit(interview: Interview, argument: str) -> None:
    try:
        result = InterviewReporter(interview.terminal, interview.judge).of(interview.kata, interview.file)
    except GraderError as error:
        raise UsageError(f"{interview.kata.id} cannot be graded here: {error}") from None
    if any(outcome.graders_fault for outcome in result.outcomes):
        raise UsageError(
            f"{interview.kata.id} cannot be graded: the fault is the grader's own, and this does not count"
        )
    if result.todo:
        interview.say(f"nothing is written yet: write your answer into {attempts.shown(interview.kata, VIA)} first")
        return
    if interview.phase == "code":
        interview.enter(interview.round.kata, "test", quietly=True)
    attempts.record(interview.state, result, interview.judge.seed, VIA)
    interview.note(
        "submit",
        state=result.reached,
        score=result.score,
        max_score=result.max_score,
        failed=[outcome.name for outcome in result.failures],
        diagnosis=result.diagnosis,
        costs=result.costs,
    )
    one = interview.round
    less = f", less {one.penalties} for help" if one.penalties else ""
    less += f", plus {one.earned} for questions" if one.earned else ""
    less += f": {one.measured}" if less else ""
    interview.say(
        f"this counts {one.score}{less}; " + ("`next` goes on" if one.solved else "`submit` again, or `next`")
    )


def diagnose(interview: Interview, argument: str) -> None:
    last = interview.round.last
    if last is None or last.state == "solved":
        interview.say("nothing failed that could be named; `submit` first")
    elif not last.diagnosis:
        interview.say("it behaves like no known mistake; that costs nothing")
    else:
        if last.diagnosis not in interview.round.diagnoses:
            interview.note("diagnose", diagnosis=last.diagnosis)
        interview.say(f"looks like {last.diagnosis}  (-{DIAGNOSIS_COST} points)")


def hint(interview: Interview, argument: str) -> None:
    level = int(argument) if argument else min(interview.round.hints + 1, len(HINT_COSTS))
    if not 1 <= level <= min(interview.round.hints + 1, len(HINT_COSTS)):
        interview.say(f"hints come one by one, up to {len(HINT_COSTS)}; {interview.round.hints} were shown so far")
        return
    if level > interview.round.hints:
        interview.note("hint", level=level)
        interview.state.add("hint", interview.round.kata, {"level": level})
    interview.terminal.say(f"Hint {level} of {len(HINT_COSTS)} (-{HINT_COSTS[level - 1]} points)", style="bold")
    interview.terminal.markdown(interview.hints[interview.round.kata][level - 1])
