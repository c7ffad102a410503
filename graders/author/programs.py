"""What `prove` finds out about the programs of symptom rounds: right ones learn, and every bug tells by its symptom."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from graders.author.proof import DebugRounds, Proof
from graders.catalogue.bugs import Bug, bugs_of, planted
from graders.catalogue.programs import Part, Program
from graders.judge.planting import Planting
from graders.judge.program_run import run_here, with_bugs
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.machine import keep_to

SEED = 0  # of each bug; the bounds were measured at a hundred, and the bugs at more than this one
ROUNDS = 2  # that are drawn, and run with all of their bugs and with each one mended


def prove(root: Path, name: str, part: str, processor: int | None) -> Proof:
    """Of one part; the first also proves the program without bugs, and rounds."""
    keep_to(processor)
    with contextlib.closing(new_launcher()) as launcher:  # before a grader is imported
        torch.set_num_threads(1)
        program = Program(root, name)
        one = next(one for one in program.parts if one.id == part)
        faults = [*of_the_judge(one, launcher), *of_bugs(program, one)]
    found = DebugRounds(len(bugs_of(one)))
    if one == program.parts[0]:
        faults += [*of_the_right_files(program, SEED), *of_rounds(program)]
        found = replace(found, pairs=ROUNDS, sampled=ROUNDS)
    return Proof(one.file_name, right=1, accepted=int(not faults), rounds=found, faults=faults)


def of_the_right_files(program: Program, seed: int) -> Iterator[str]:
    for symptom in program.symptoms(run_here(with_bugs(program, {}), program.script, seed)):
        yield f"without bugs it shows a symptom at seed {seed}: {symptom}"


def of_bugs(program: Program, part: Part) -> Iterator[str]:
    for bug in bugs_of(part):
        if not program.symptom(run_here(with_bugs(program, {part.id: [bug]}), program.script, SEED)):
            yield f"the bug {bug.name} shows no symptom at seed {SEED}; make its forms `unplanted`"


def of_rounds(program: Program) -> Iterator[str]:
    """No bug hides the others: whatever is left of a round, a run still shows something."""
    for seed in range(ROUNDS):
        for some in left_in(next(program.samples(seed))):
            if not program.symptom(run_here(with_bugs(program, some), program.script, seed)):
                names = ", ".join(bug.name for own in some.values() for bug in own)
                yield f"together these show no symptom at seed {seed}: {names}"


def left_in(bugs: dict[str, list[Bug]]) -> Iterator[dict[str, list[Bug]]]:
    """The whole round, and the round without any one of its bugs."""
    yield bugs
    every = [(name, bug) for name, own in bugs.items() for bug in own]
    for few in itertools.combinations(every, len(every) - 1):
        yield {name: [bug for part, bug in few if part == name] for name in bugs}


def of_the_judge(part: Part, launcher: Launcher) -> Iterator[str]:
    """The right file passes its grader; each bug fails it, and is found to be left in the file that has it."""
    with contextlib.closing(Planting(part, launcher)) as planting:
        if failure := planting.failure(()):
            yield f"the right file fails {failure.check}: {failure.call}"
        for bug in bugs_of(part):
            if not planting.failure([bug]):
                yield f"the bug {bug.name} passes the grader"
            elif planting.left(planted(planting.right, [bug]), [bug]).bugs != {bug.name}:
                yield f"the bug {bug.name} is not found to be left in the file that has it"
