"""`prove`: the graders' own exam. Right answers pass, mistakes and mutants fail, all through the learner's door.

The mistakes come through a side door of their own, warm.py, since there are hundreds of them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from graders.author.mutants import mutants
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.cli import command_line
from graders.faults import ROOT, GraderError
from graders.judge import card, checks, results
from graders.kata.mistakes import Mistake
from graders.sandbox.launcher import new_launcher
from graders.sandbox.submission import LIMIT_SECONDS, WHOLE_SECONDS

SPARE = 10  # times as long as the reference a submission may take at least, or the machine be loaded
CALLS = 2  # that the slowest check makes at least: a large one, and a small one before it
COUNTING = threading.Lock()  # several runs prove one kata
WARM = "import pathlib, sys; from graders.author import warm; warm.tell(pathlib.Path(sys.argv[1]), sys.argv[2])"
PARTS = 4  # that the cheats are graded in, side by side


@dataclass
class Proof:
    """What was found out about one kata's grader."""

    kata: str
    right: int = 0
    accepted: int = 0
    mistakes: int = 0
    killed: int = 0
    named: int = 0
    mutants: int = 0
    mutants_killed: int = 0
    cheats: int = 0
    defeated: int = 0
    equivalent: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def count_right(self, result: dict[str, Any]) -> None:
        with COUNTING:
            self.right += 1
            self.accepted += result["state"] == "solved"

    def count_cheat(self, defeated: bool) -> None:
        with COUNTING:
            self.cheats += 1
            self.defeated += defeated

    def row(self) -> list[str]:
        return [
            self.kata,
            f"{self.accepted}/{self.right}",
            f"{self.killed}/{self.mistakes}",
            f"{self.named}/{self.mistakes}",
            f"{self.mutants_killed}/{self.mutants}",
            str(len(self.equivalent)),
            f"{self.defeated}/{self.cheats}" if self.cheats else "-",
            "proved" if not self.faults else f"{len(self.faults)} FAULTS",
        ]


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a right answer is rejected, a mistake passes or goes unnamed, or a mutant survives."""
    chosen = katas.find(options.katas, root)
    console = card.console()
    proofs = {kata.id: Proof(kata.id) for kata in chosen}
    jobs = [(job, kata) for kata in chosen for job in (prove_answers, prove_mistakes, prove_mutants)]
    attacked = [kata for kata in chosen if hostile_files(kata)]
    if attacked and isolation() != "full":
        console.print("cheats are not tried: submissions cannot be shut in fully here, see SECURITY.md")
    else:
        parts = [functools.partial(prove_integrity, part) for part in range(PARTS)]
        jobs = [*((part, kata) for kata in attacked for part in parts), *jobs]  # the longest first
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:  # one more, since cheats mostly wait for time limits
        futures = {pool.submit(job, kata, proofs[kata.id]): kata for job, kata in jobs}
        for done, future in enumerate(as_completed(futures), start=1):
            try:
                future.result()
            except (GraderError, OSError) as error:
                proofs[futures[future].id].faults.append(str(error))
            if console.is_terminal:
                console.print(f"{done} of {len(jobs)} runs done", end="\r")
    console.print(table(list(proofs.values())))
    for proof in proofs.values():
        for name, reason in proof.equivalent.items():
            console.print(f"{proof.kata}: survives  {name}\n  {reason}", markup=False, soft_wrap=True)
    for proof in proofs.values():
        for fault in proof.faults:
            console.print(f"FAULT  {proof.kata}: {fault}", markup=False, soft_wrap=True)
    if options.json:
        results.write(options.json, [vars(proof) for proof in proofs.values()])
    return int(any(proof.faults for proof in proofs.values()))


def table(proofs: list[Proof]) -> Table:
    made = card.table("kata.", "right", "mistakes", "named", "mutants", "equiv", "cheats", ".")
    for proof in proofs:
        made.add_row(*proof.row())
    return made


def prove_answers(kata: Kata, proof: Proof) -> None:
    """The reference and the alternatives should be solved."""
    right = [kata.reference_file, *sorted((kata.solutions / "alternatives").glob("*.py"))]
    banned = [*kata.solutions.glob("builtin.py")] if kata.grader.banned else []
    graded = grade(kata, [*right, *banned])
    for builtin in graded[len(right) :]:
        if not any(test["category"] == "rules" and test["state"] == "fail" for test in builtin["tests"]):
            proof.faults.append("builtin.py, which calls what is banned, should break the rules, but does not")
    for path, result in zip(right, graded, strict=False):
        proof.count_right(result)
        if result["state"] != "solved":
            proof.faults.append(f"{path.name} is right, but: {first_failure(result)}")
    tests = [test for test in graded[0]["tests"] if not test["name"].endswith("/time")]  # that makes many calls
    slowest = max((test["seconds"] for test in tests), default=0) / CALLS
    for what, seconds, limit in (("kata", graded[0]["seconds"], WHOLE_SECONDS), ("call", slowest, LIMIT_SECONDS)):
        if SPARE * seconds > limit:
            proof.faults.append(
                f"the reference takes {seconds:.2f} s, and {SPARE} times that is above the time limit of a {what}"
            )


def prove_mistakes(kata: Kata, proof: Proof) -> None:
    """Every form of a mistake should fail and be named."""
    command = [sys.executable, "-c", WARM, str(kata.root), kata.id]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    if done.returncode:
        raise GraderError(f"judging the mistakes ended with exit status {done.returncode}: {done.stderr[-800:]}")
    reference = kata.reference_file.read_text(encoding="utf-8")
    wrong = [(mistake, form) for mistake in kata.mistakes for form in mistake.forms(reference)]
    for (mistake, form), result in zip(wrong, json.loads(done.stdout), strict=True):
        judge_mistake(mistake, form, result, proof)


def judge_mistake(mistake: Mistake, form: str, result: dict[str, Any], proof: Proof) -> None:
    proof.mistakes += 1
    proof.killed += result["state"] == "failing"
    proof.named += result["mistake"] == mistake.name
    if result["state"] != "failing":
        proof.faults.append(f"the mistake {form} should fail, but is {result['state']}: {result['message']}")
    elif result["mistake"] != mistake.name:
        proof.faults.append(f"the mistake {form} should be named, got {result['mistake'] or 'no name'}")


def prove_mutants(kata: Kata, proof: Proof) -> None:
    """Every mutant of the reference should fail, unless the author says why it is equivalent."""
    made = mutants(kata.reference_file.read_text(encoding="utf-8"))
    reasons = kata.equivalents
    with tempfile.TemporaryDirectory() as folder:
        files = [write(Path(folder), f"mutant_{index}", source) for index, source in enumerate(made.values())]
        graded = grade(kata, files, "-x")
    proof.mutants = len(made)
    survivors = [name for name, result in zip(made, graded, strict=True) if result["state"] == "solved"]
    proof.mutants_killed = len(made) - len(survivors)
    proof.equivalent = {name: reasons[name] for name in survivors if name in reasons}
    proof.faults += [f"a mutant survives unexplained: {name}" for name in survivors if name not in reasons]
    proof.faults += [f"no surviving mutant is called: {name}" for name in reasons if name not in survivors]


def prove_integrity(part: int, kata: Kata, proof: Proof) -> None:
    """Every file of tests/hostile/<kata> should end as its first line says, with a verdict for every check."""
    files = hostile_files(kata)[part::PARTS]
    for path, result in zip(files, grade(kata, files) if files else [], strict=True):  # without files, the learner's
        solved, must_pass = result["state"] == "solved", is_honest(path)
        complete = result["state"] == "error" or sum(test["max_score"] for test in result["tests"]) == checks.POINTS
        if must_pass:
            proof.count_right(result)
        else:
            proof.count_cheat(complete and not solved)
        if solved != must_pass or not complete:
            proof.faults.append(
                f"{path.name}: {first_line(path)}, but it is {result['state']}: {first_failure(result)}"
            )


def hostile_files(kata: Kata) -> list[Path]:
    return sorted((kata.root / "tests" / "hostile" / kata.id).glob("*.py"))


def is_honest(path: Path) -> bool:
    return first_line(path).endswith("must pass")


def first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def isolation() -> str:
    """How well this system lets submissions be shut in."""
    launcher = new_launcher()
    try:
        return launcher.isolation
    finally:
        launcher.close()


def grade(kata: Kata, files: list[Path], *more: str) -> list[dict[str, Any]]:
    """The results of the learner's own command. Raises: GraderError where it reports a fault of the grader."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "results.json"
        command = command_line(kata.root)
        command += ["grade", kata.id, "--json", str(output), "--device", "cpu", "--seed", "1", *more]
        for file in files:
            command += ["--submission", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
        if done.returncode not in (0, 1):
            raise GraderError(
                f"grading ended with exit status {done.returncode}: {(done.stderr or done.stdout)[-800:]}"
            )
        found: list[dict[str, Any]] = json.loads(output.read_text(encoding="utf-8"))["results"]
        return found


def write(folder: Path, name: str, source: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return path


def first_failure(result: dict[str, Any]) -> str:
    failed = (test for test in result["tests"] if test["state"] != "pass")
    return next((f"{test['name']}: {test['message']}" for test in failed), str(result["message"]))
