"""`prove`: the graders' own exam. Right answers pass, mistakes and mutants fail, all through the learner's door.

The mistakes come through a side door of their own, wrong.py, since there are hundreds of them.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import os
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from graders.author import forked, wrong
from graders.author import programs as of_programs
from graders.author.check.code import leftovers
from graders.author.forked import WARM
from graders.author.proof import Proof, tell
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.programs import FOLDER, Part, Program, programs
from graders.faults import FAULT, GraderError, UsageError
from graders.grade import add_commands
from graders.grade import main as grading
from graders.judge import checks, results, screen
from graders.judge.standard import refusals_in, standard_answers, without
from graders.sandbox.launcher import new_launcher
from graders.sandbox.machine import processors

ENGINE = ("graders/", "pyproject.toml")  # what judges all katas
PART = 40  # cheats, graded by one command
SAID_EVERY = 20  # runs, where the output is no terminal


Job = tuple[str, Callable[[], Proof]]  # of which kata, and what finds something out about it


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a right answer is rejected, a mistake passes or goes unnamed, or a mutant survives."""
    console = screen.console()
    chosen, parts_chosen = chosen_katas(options, root), chosen_parts(options, root)
    if not chosen and not parts_chosen:
        console.print(f"nothing to prove: no kata changed since {options.changed}, nor did what judges them")
        return 0
    proofs = {kata.id: Proof(kata.id) for kata in chosen}
    proofs |= {part.id: Proof(part.file_name) for part in parts_chosen}
    commands: list[Job] = []
    attacked = [kata for kata in chosen if hostile_files(kata)]
    if attacked and isolation() != "full":
        console.print("cheats are not tried: this system cannot isolate submissions fully, see SECURITY.md")
    else:
        cheats = [(kata, part) for kata in attacked for part in parts(kata)]
        commands += [(kata.id, functools.partial(prove_integrity, kata, part)) for kata, part in cheats]
    commands += [(kata.id, functools.partial(prove_answers, kata)) for kata in chosen]  # which take less time
    places: list[int | None] = [*processors()] or [None] * (os.cpu_count() or 1)
    free: SimpleQueue[int | None] = SimpleQueue()
    for place in places:
        free.put(place)
    judge = functools.partial(elsewhere, free, wrong.judge, root)
    side_door: list[Job] = [(kata.id, functools.partial(judge, kata.id, options.deep)) for kata in chosen]
    prove_part = functools.partial(elsewhere, free, of_programs.prove, root)
    side_door += [(part.id, functools.partial(prove_part, part.topic, part.id)) for part in parts_chosen]
    # At once, since cheats mostly wait for time limits.
    pools = [ThreadPoolExecutor(len(places)) for _ in range(2)]
    futures: dict[Future[Proof], str] = {
        pool.submit(job): name for pool, jobs in zip(pools, (commands, side_door), strict=True) for name, job in jobs
    }
    try:
        for done, future in enumerate(as_completed(futures), start=1):
            proof = proofs[futures[future]]
            try:
                proof.add(future.result())
            except (GraderError, OSError) as error:
                proof.faults += [str(error)] * (str(error) not in proof.faults)  # several runs meet it
            if console.is_terminal or done % SAID_EVERY == 0:
                console.print(f"{done} of {len(futures)} runs done", end="\r" if console.is_terminal else "\n")
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C no other is begun
    for kata in chosen:
        proof = proofs[kata.id]
        unused = kata.equivalents.keys() - proof.equivalent.keys()
        proof.faults += [f"EQUIVALENT names what does not survive: {name}" for name in sorted(unused)]
        idle = [name for name, reason in kata.fixed.items() if reason not in proof.fixed]
        proof.faults += [f"FIXED explains what is not equal at every seed: {name}" for name in idle]
        if proof.faults and (left := len(list(leftovers(kata)))):
            proof.faults.append(f"{left} places are left to fill in; python -m graders check {kata.id} lists them")
    tell(console, proofs.values())
    if options.json:
        results.write(options.json, [dataclasses.asdict(proof) for proof in proofs.values()])
    return int(any(proof.faults for proof in proofs.values()))


def chosen_katas(options: argparse.Namespace, root: Path) -> list[Kata]:
    """Those that were named, or that a change may matter to, or of all every so-and-so-many. Raises: UsageError."""
    names = [name for name in options.katas if name not in programs(root)]
    found = katas.find(names, root) if names or not options.katas else []
    files = changed_files(options.changed, root)
    if files is not None:
        found = [kata for kata in found if any(kata.id in Path(file).with_suffix("").parts for file in files)]
    number, shards = options.shard
    return found[number - 1 :: shards]


def chosen_parts(options: argparse.Namespace, root: Path) -> list[Part]:
    """Those of the programs that were named or may have changed, or of all programs, in the first part of several."""
    names = [name for name in programs(root) if name in options.katas or not options.katas]
    files = changed_files(options.changed, root)
    if files is not None:
        names = [name for name in names if any(file.startswith(f"{FOLDER}/{name}/") for file in files)]
    return [part for name in names * (options.shard[0] == 1) for part in Program(root, name).parts]


def changed_files(reference: str | None, root: Path) -> list[str] | None:
    """By their paths in the repository, those that git does not know yet, too. Raises: UsageError.

    None where all katas are to be proved: without a reference, and where what judges them changed.
    """
    if not reference:
        return None
    found: list[str] = []
    known = ["diff", "--name-only", "--end-of-options", reference, "--"]
    for command in (known, ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"--changed {reference}: git does not know it ({done.stderr.splitlines()[0]})")
        found += done.stdout.splitlines()
    return None if any(file.startswith(ENGINE) for file in found) else found


def prove_answers(kata: Kata) -> Proof:
    """The reference and the alternatives should be solved.

    The reference that refuses nothing, and the answer as a textbook prints it, should have the core.
    """
    proof, right = Proof(kata.id), [kata.reference_file, *kata.alternatives]
    banned = [*kata.solutions.glob("builtin.py")] if kata.grader.banned else []
    with tempfile.TemporaryDirectory() as folder:
        right += [write(Path(folder), one.name, one.source) for one in standard_answers(kata)]
        careless = [write(Path(folder), "refuses_nothing", source) for source in refusing_nothing(kata)]
        careless += (kata.root / "tests" / "textbook").glob(f"{kata.id}.py")
        graded = grade(kata, [*right, *careless, *banned])
    proof.checks, proof.core = (
        len(some) for some in (graded[0]["tests"], [t for t in graded[0]["tests"] if t["core"]])
    )
    for path, result in zip(careless, graded[len(right) :], strict=False):
        if not result["core"]:
            wrong = [test["name"] for test in result["tests"] if test["core"] and test["state"] != "pass"]
            proof.faults.append(f"{path.stem} should have the core, but fails {wrong} of it")
    for builtin in graded[len(right) + len(careless) :]:
        if not any(test["category"] == "rules" and test["state"] == "fail" for test in builtin["tests"]):
            proof.faults.append("builtin.py, which calls what is banned, should break the rules, but does not")
    for path, result in zip(right, graded, strict=False):
        solved = result["state"] == "solved"
        proof.right += 1
        proof.accepted += solved
        if not solved:
            proof.faults.append(f"{path.name} is right, but: {first_failure(result)}")
    return proof


def refusing_nothing(kata: Kata) -> list[str]:
    """The reference without its refusals, where bad arguments are tested."""
    source = kata.reference_file.read_text(encoding="utf-8")
    refused = any(case.raises for answer in kata.grader.answers for case in answer.cases)
    return [without(source, refusals_in(source))] if refused else []


def elsewhere(free: SimpleQueue[int | None], prove: Callable[..., Proof], *given: Any) -> Proof:
    """What it finds out, in a process that keeps to a free processor. Raises: GraderError."""
    processor = free.get()
    try:
        with ProcessPoolExecutor(1, WARM) as process:
            return process.submit(prove, *given, processor).result()
    except GraderError:
        raise
    except Exception as error:
        told = "".join(traceback.format_exception(error))
        raise GraderError(f"judging ended early: {told[-800:]}") from error
    finally:
        free.put(processor)


def prove_integrity(kata: Kata, files: list[Path]) -> Proof:
    """Every file of tests/hostile/<kata> should end as its first line says, with a verdict for every check."""
    proof = Proof(kata.id)
    for path, result in zip(files, grade(kata, files), strict=True):
        solved, must_pass, must_be_flagged = result["state"] == "solved", is_honest(path), is_left_to_readers(path)
        complete = result["state"] == "error" or sum(test["max_score"] for test in result["tests"]) == checks.POINTS
        as_wanted = complete and (bool(result["review"]) if must_be_flagged else solved == must_pass)
        if must_pass:
            proof.right += 1
            proof.accepted += solved
        else:
            proof.cheats += 1
            proof.defeated += as_wanted
        if not as_wanted:
            proof.faults.append(
                f"{path.name}: {first_line(path)}, but it is {result['state']}: {first_failure(result)}"
            )
    return proof


def hostile_files(kata: Kata) -> list[Path]:
    return sorted((kata.root / "tests" / "hostile" / kata.id).glob("*.py"))


def parts(kata: Kata) -> list[list[Path]]:
    """Its hostile files, some for each command; those that hang have names alike."""
    files = hostile_files(kata)
    count = -(-len(files) // PART)
    return [files[number::count] for number in range(count)]


def is_honest(path: Path) -> bool:
    return first_line(path).endswith("must pass")


def is_left_to_readers(path: Path) -> bool:
    """A cheat that nothing stops, and that `review` points out."""
    return first_line(path).endswith("must be flagged")


def first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def isolation() -> str:
    """How well this system lets submissions be shut in."""
    with contextlib.closing(new_launcher()) as launcher:
        return launcher.isolation


def grade(kata: Kata, files: list[Path], *more: str) -> list[dict[str, Any]]:
    """The results of the learner's own command. Raises: GraderError where it reports a fault of the grader."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "results.json"
        arguments = ["grade", kata.id, "--json", str(output), "--device", "cpu", "--seed", "1", *more]
        for file in files:
            arguments += ["--submission", str(file)]
        try:
            done = forked.run(grade_command, arguments, kata.root)
        except EOFError:
            raise GraderError("grading ended without an exit status") from None
        if done.status not in (0, 1):
            raise GraderError(f"grading ended with exit status {done.status}: {(done.err or done.out)[-800:]}")
        found: list[dict[str, Any]] = json.loads(output.read_text(encoding="utf-8"))["results"]
        return found


def grade_command(arguments: list[str], root: Path) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers())
    options = parser.parse_args(arguments)
    try:
        return grading.main(options, root)
    except Exception:
        traceback.print_exc()
        return FAULT


def write(folder: Path, name: str, source: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return path


def first_failure(result: dict[str, Any]) -> str:
    failed = (test for test in result["tests"] if test["state"] != "pass")
    return next((f"{test['name']}: {test['message']}" for test in failed), str(result["message"]))
