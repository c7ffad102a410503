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
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.cli import command_line
from graders.faults import ROOT, GraderError, UsageError
from graders.judge import card, checks, results
from graders.judge.standard import standard_answers
from graders.sandbox.launcher import new_launcher

COUNTING = threading.Lock()  # several runs prove one kata
WARM = "import pathlib, sys; from graders.author import warm; warm.tell(pathlib.Path(sys.argv[1]), *sys.argv[2:])"
ENGINE = ("graders/", "pyproject.toml")  # what judges all katas
PARTS = 4  # that the cheats are graded in, side by side
SAID_EVERY = 20  # runs, where the output is no terminal


@dataclass
class Proof:
    """What was found out about one kata's grader."""

    kata: str
    right: int = 0
    accepted: int = 0
    mistakes: int = 0
    killed: int = 0
    named: int = 0
    standard: int = 0
    standard_killed: int = 0
    mutants: int = 0
    mutants_killed: int = 0
    cheats: int = 0
    defeated: int = 0
    equivalent: dict[str, str] = field(default_factory=dict)
    deep: list[str] = field(default_factory=list)  # mutants of alternatives that pass: holes, or right answers
    faults: list[str] = field(default_factory=list)

    def count_right(self, result: dict[str, Any]) -> None:
        with COUNTING:
            self.right += 1
            self.accepted += result["state"] == "solved"

    def count_survivor(self, what: str, name: str, survives: bool, reasons: Mapping[str, str]) -> None:
        """One that passes needs a reason, and a reason one that passes."""
        with COUNTING:
            if survives and name in reasons:
                self.equivalent[name] = reasons[name]
            elif survives:
                self.faults.append(f"{what} survives unexplained: {name}")

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
            f"{self.standard_killed}/{self.standard}",
            f"{self.mutants_killed}/{self.mutants}",
            f"{self.defeated}/{self.cheats}" if self.cheats else "-",
            "proved" if not self.faults else f"{len(self.faults)} FAULTS",
        ]


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a right answer is rejected, a mistake passes or goes unnamed, or a mutant survives."""
    console = card.console()
    chosen = chosen_katas(options, root)
    if not chosen:
        console.print(f"nothing to prove: no kata changed since {options.changed}, nor did what judges them")
        return 0
    proofs = {kata.id: Proof(kata.id) for kata in chosen}
    kinds = [prove_answers, prove_mistakes, prove_mutants, *([prove_deep] * options.deep)]
    jobs = [(job, kata) for kata in chosen for job in kinds]
    attacked = [kata for kata in chosen if hostile_files(kata)]
    if attacked and isolation() != "full":
        console.print("cheats are not tried: this system cannot isolate submissions fully, see SECURITY.md")
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
            if console.is_terminal or done % SAID_EVERY == 0:
                console.print(f"{done} of {len(jobs)} runs done", end="\r" if console.is_terminal else "\n")
    for kata in chosen:
        proof = proofs[kata.id]
        unused = kata.equivalents.keys() - proof.equivalent.keys()
        proof.faults += [f"EQUIVALENT names what does not survive: {name}" for name in sorted(unused)]
    console.print(table(list(proofs.values())))
    for proof in proofs.values():
        for name, reason in proof.equivalent.items():
            console.print(f"{proof.kata}: survives  {name}\n  {reason}", markup=False, soft_wrap=True)
    for proof in proofs.values():
        for name in proof.deep:
            console.print(f"look at  {proof.kata}: survives  {name}", markup=False, soft_wrap=True)
    for proof in proofs.values():
        for fault in proof.faults:
            console.print(f"FAULT  {proof.kata}: {fault}", markup=False, soft_wrap=True)
    if options.json:
        results.write(options.json, [vars(proof) for proof in proofs.values()])
    return int(any(proof.faults for proof in proofs.values()))


def chosen_katas(options: argparse.Namespace, root: Path) -> list[Kata]:
    """Those that were named, or that a change may matter to, or of all every so-and-so-many. Raises: UsageError."""
    found = katas.find(options.katas, root)
    if options.changed:
        files = changed_files(options.changed, root)
        if not any(file.startswith(ENGINE) for file in files):
            found = [kata for kata in found if any(kata.id in Path(file).parts for file in files)]
    number, shards = options.shard
    return found[number - 1 :: shards]


def changed_files(reference: str, root: Path) -> list[str]:
    """By their paths in the repository, those that git does not know yet, too. Raises: UsageError."""
    found: list[str] = []
    known = ["diff", "--name-only", "--end-of-options", reference, "--"]
    for command in (known, ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"--changed {reference}: git does not know it ({done.stderr.splitlines()[0]})")
        found += done.stdout.splitlines()
    return found


def table(proofs: list[Proof]) -> Table:
    made = card.table("kata.", "right", "killed", "named", "usual", "mutants", "cheats", ".")
    for proof in proofs:
        made.add_row(*proof.row())
    return made


def prove_answers(kata: Kata, proof: Proof) -> None:
    """The reference and the alternatives should be solved."""
    right = [kata.reference_file, *sorted((kata.solutions / "alternatives").glob("*.py"))]
    banned = [*kata.solutions.glob("builtin.py")] if kata.grader.banned else []
    with tempfile.TemporaryDirectory() as folder:
        right += [write(Path(folder), one.name, one.source) for one in standard_answers(kata)]
        graded = grade(kata, [*right, *banned])
    for builtin in graded[len(right) :]:
        if not any(test["category"] == "rules" and test["state"] == "fail" for test in builtin["tests"]):
            proof.faults.append("builtin.py, which calls what is banned, should break the rules, but does not")
    for path, result in zip(right, graded, strict=False):
        proof.count_right(result)
        if result["state"] != "solved":
            proof.faults.append(f"{path.name} is right, but: {first_failure(result)}")


def prove_mistakes(kata: Kata, proof: Proof) -> None:
    """Every form of a mistake should fail, and the author's own be named."""
    own = {mistake.name for mistake in kata.mistakes}
    for verdict in judged(kata, "mistakes", proof):
        killed, form = verdict["state"] == "failing", verdict["form"]
        if verdict["name"] not in own:
            proof.standard += 1
            proof.standard_killed += killed
            proof.count_survivor(f"the standard mistake {form}", form, survives=not killed, reasons=kata.equivalents)
            continue
        proof.mistakes += 1
        proof.killed += killed
        proof.named += verdict["mistake"] == verdict["name"]
        if not killed:
            proof.faults.append(f"the mistake {form} should fail, but is {verdict['state']}: {verdict['message']}")
        elif verdict["mistake"] != verdict["name"]:
            found = verdict["mistake"]
            got = f"{found}, which replies alike to everything that is asked" if found else "no name"
            proof.faults.append(f"the mistake {form} should be named, got {got}")


def prove_mutants(kata: Kata, proof: Proof) -> None:
    """Every mutant of the reference should fail, unless the author says why it is equivalent."""
    for verdict in judged(kata, "mutants", proof):
        killed = verdict["state"] != "solved"
        proof.mutants += 1
        proof.mutants_killed += killed
        proof.count_survivor("a mutant", verdict["form"], survives=not killed, reasons=kata.equivalents)


def prove_deep(kata: Kata, proof: Proof) -> None:
    """Lists the mutants of alternatives that pass. Most are right; a person has to look at them."""
    proof.deep = [verdict["form"] for verdict in judged(kata, "deep", proof) if verdict["state"] == "solved"]


def judged(kata: Kata, what: str, proof: Proof) -> list[dict[str, Any]]:
    """What came of the wrong answers of a kind, see warm.py. Raises: GraderError."""
    command = [sys.executable, "-c", WARM, str(kata.root), kata.id, what]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    if done.returncode:
        raise GraderError(f"judging the {what} ended with exit status {done.returncode}: {done.stderr[-800:]}")
    told = json.loads(done.stdout)
    proof.faults += told["faults"]
    found: list[dict[str, Any]] = told["verdicts"]
    return found


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
