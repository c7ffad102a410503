"""What a candidate does while writing: runs tests of their own, has the answer graded, takes help for points."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from graders.desk import attempts
from graders.desk.interview import own_tests
from graders.desk.interview.room import Room
from graders.desk.interview.round import DIAGNOSIS_COST, HINT_COSTS
from graders.desk.interview.verdict import Verdict
from graders.faults import GraderError, UsageError
from graders.files import replace_file

TEMPLATE = '''"""My own tests of {kata}; `run` runs them."""

import torch

from {kata} import {names}


def test_an_example_worked_by_hand():
    # got = {name}(...)
    # assert torch.allclose(got, torch.tensor(...))
    raise NotImplementedError("write an example whose result you know")
'''


def run(room: Room, argument: str) -> None:
    try:
        script = tests_file(room, argument)
        missing = not script.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a home that nobody has
        raise UsageError(f"{argument} cannot be run ({error}); name your file of tests") from None
    if missing and argument:
        raise UsageError(f"{argument} does not exist; name your file of tests, or type `run` alone")
    if missing:
        offer(room, script)
        return
    console = room.talk.console
    with console.status(f"running {script.name}") if console.is_terminal else contextlib.nullcontext():
        ran = own_tests.run(room.judge.launcher, room.kata.answer_file, script, console.width)
    if ran.text:
        room.say(ran.text)
    room.say(f"{script.name}: {ran.ending}")
    room.note("run", file=str(script), passed=ran.passed)


def tests_file(room: Room, name: str) -> Path:
    """As it was named, or beside the answer; by default the last one."""
    folder = room.kata.folder
    if not name:
        return Path(room.round.runs[-1][0]) if room.round.runs else folder / f"{room.kata.id}_test.py"
    given = Path(name).expanduser().absolute()
    return folder / name if (folder / name).exists() and not given.exists() else given


def offer(room: Room, script: Path) -> None:
    """A first file of tests. Raises: UsageError."""
    shown = os.path.relpath(script, room.kata.root)
    room.say(f"{shown} is not there yet. Write a small one to start from?")
    if room.talk.ask("yes/no > ").lower() not in ("y", "yes"):
        room.say("write one of your own, and name it: run FILE")
        return
    names = [answer.name for answer in room.kata.grader.answers]
    replace_file(script, TEMPLATE.format(kata=room.kata.id, names=", ".join(names), name=names[0]))
    room.say(f"wrote {shown}: put your examples in, then `run`")


def submit(room: Room, argument: str) -> None:
    try:
        result = Verdict(room.talk, room.judge).of(room.kata)
    except GraderError as error:
        raise UsageError(f"{room.kata.id} cannot be graded here: {error}") from None
    if any(outcome.graders_fault for outcome in result.outcomes):
        raise UsageError(f"{room.kata.id} cannot be graded: the fault is the grader's own, and this does not count")
    if result.todo:
        room.say(f"the stub is untouched: write your answer into {attempts.shown(room.kata)} first")
        return
    if room.phase == "code":
        room.enter(room.round.kata, "test", quietly=True)
    attempts.record(room.state, result, room.judge.seed, "interview")
    room.note(
        "submit",
        state=result.state,
        score=result.score,
        max_score=result.max_score,
        failed=[outcome.name for outcome in result.failures],
        diagnosis=result.diagnosis,
        costs=result.costs,
    )
    one = room.round
    less = f", less {one.penalties} for help: {one.measured}" if one.penalties else ""
    room.say(f"this counts {one.score}{less}; " + ("`next` goes on" if one.solved else "`submit` again, or `next`"))


def diagnose(room: Room, argument: str) -> None:
    last = room.round.last
    if last is None or last.state == "solved":
        room.say("nothing failed that could be named; `submit` first")
    elif not last.diagnosis:
        room.say("it behaves like no known mistake; that costs nothing")
    else:
        if last.diagnosis not in room.round.diagnoses:
            room.note("diagnose", diagnosis=last.diagnosis)
        room.say(f"looks like {last.diagnosis}  (-{DIAGNOSIS_COST} points)")


def hint(room: Room, argument: str) -> None:
    level = int(argument) if argument else min(room.round.hints + 1, len(HINT_COSTS))
    if not 1 <= level <= min(room.round.hints + 1, len(HINT_COSTS)):
        room.say(f"hints come one by one, up to {len(HINT_COSTS)}; {room.round.hints} were shown so far")
        return
    if level > room.round.hints:
        room.note("hint", level=level)
        room.state.add("hint", room.round.kata, {"level": level})
    room.talk.say(f"Hint {level} of {len(HINT_COSTS)} (-{HINT_COSTS[level - 1]} points)", style="bold")
    room.talk.markdown(room.hints[room.round.kata][level - 1])
