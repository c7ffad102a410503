"""`cohort`: reads the answers, has those judged that were not judged yet, and writes what came of it."""

from __future__ import annotations

import argparse
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from graders import files
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.cohort import gradebook, judge, pages
from graders.cohort.classes import all_learners, left_out
from graders.cohort.cluster import Job, judge_all
from graders.cohort.columns import columns_of, other_scales
from graders.cohort.grades import Graded
from graders.cohort.learners import Learner, name_files
from graders.cohort.ledger import Ledger, alone, engine_digest, key_of, program_of, short_version
from graders.faults import INTERRUPTED, UsageError
from graders.judge import screen
from graders.sandbox.cage import Isolation

PROMISED: dict[str, Isolation] = {"strict": "full", "limits": "limits"}  # it may have been better
NOT_GRADED = (
    "not wholly graded, since machines were lost (run the same again; if it happens again, look at their answers)"
)
MOST_NAMES = 10  # on the console


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 0 where every answer has its verdict; 1 where something could not be read or graded; 130 where it
    was interrupted, after what was judged.
    """
    if options.out.resolve().is_relative_to(options.learners.resolve()):
        raise UsageError(
            f"{options.out} lies in {options.learners}, as if it were a learner's: name or move it elsewhere"
        )
    files.make_room(options.out / "grades.csv", "name another folder with --out")
    if not any((options.out / name).exists() for name in ("results.sqlite", ".lock")):  # of an earlier run
        for name in ("grades.csv", "index.html", "feedback", "learners", "gradescope"):
            if (options.out / name).exists():
                raise UsageError(f"{options.out / name} is not from an earlier run: name a new folder with --out")
    with alone(options.out):
        return grade(options, root, screen.console())


def grade(options: argparse.Namespace, root: Path, console: Console) -> int:
    """As `main`, where nobody else writes into the same folder."""
    chosen, by_name = katas.find(options.kata, root), {kata.id: kata for kata in katas.all_katas(root)}
    book = gradebook.read(options.gradebook) if options.gradebook else gradebook.Gradebook([])
    exported = columns_of(options.assignment, chosen, options.export, book, root)
    learners = gradebook.joined(read(options, options.learners, by_name), book)
    name_files(learners)
    if (options.until or options.late is not None) and options.learners.suffix != ".csv":
        console.print(f"--until and --late need a roster (.csv) of repositories: {options.learners} is graded as it is")
    elif options.late is not None and not any(learner.until for learner in learners):
        console.print("nobody has a deadline, so --late takes nothing: add --until, or the roster's column `until`")
    earlier = [one for folder in options.earlier for one in read(options, folder, by_name)]
    ledger = Ledger(options.out / "results.sqlite")
    try:
        seed, engine = secrets.randbelow(1 << 31) if options.seed is None else options.seed, engine_digest()
        terms = engine, options.seed, options.isolation
        keys = {
            (learner.slug, name): key_of(by_name[name], answer, *terms)
            for learner in learners
            for name, answer in learner.answers.items()
        }
        jobs = todo(learners, keys, ledger, chosen, terms, seed)
        console.print(
            f"{len(learners)} learner{'s' * (len(learners) != 1)}, {len(keys)} answers, "
            f"{len(set(keys.values()))} of them distinct; {len(jobs)} to be judged; seed {seed}"
        )
        lost: dict[str, dict[str, Any]] = {}
        promised = PROMISED[options.isolation]
        if jobs:
            lost = judge_all(jobs, ledger, judge.Judging(root, promised), options, console)
        found = {pair: told for pair, key in keys.items() if (told := ledger.find(key) or lost.get(key))}
        columns = [kata for kata in by_name.values() if kata in chosen or any(name == kata.id for _, name in found)]
        documents = {learner.slug: of_learner(learner, columns, found) for learner in learners}
        version = short_version(root)
        graded = Graded(learners, columns, documents, seed, promised, options.late, exported, version, book, root)
        pages.write_all(options.out, graded, options.export, options.json, earlier)
        for why in other_scales(exported, book) if {"canvas", "moodle"} & set(options.export) else ():
            console.print(why, markup=False, highlight=False, soft_wrap=True)
        console.print(f"wrote {options.out / 'index.html'}, grades.csv, learners/ and feedback/ next to it")
        ungraded = {slug for (slug, _), key in keys.items() if key in lost}
        return tell(console, options, learners, [one.name for one in learners if one.slug in ungraded])
    except KeyboardInterrupt:
        console.print("stopped; what was judged is kept: run the same again, and it goes on")
        return INTERRUPTED
    finally:
        ledger.close()


def read(options: argparse.Namespace, source: Path, by_name: dict[str, Kata]) -> list[Learner]:
    """Raises: UsageError."""
    clones = options.out / "clones"
    return all_learners(source, list(by_name.values()), clones, options.until, options.late is not None)


def of_learner(
    learner: Learner, columns: list[Kata], found: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A learner's results in the order of the katas, with the learner's own paths."""
    return [
        found[learner.slug, kata.id] | {"source": learner.answers[kata.id].shown}
        for kata in columns
        if (learner.slug, kata.id) in found
    ]


def tell(console: Console, options: argparse.Namespace, learners: list[Learner], lost: list[str]) -> int:
    """Says what an instructor has to look at. Returns the exit status."""
    unread = [learner.name for learner in learners if learner.unread]
    late = [learner.name for learner in learners if learner.late]
    hidden = left_out(options.learners)
    for names, what in (
        (unread, "not read, or not wholly, see their notes"),
        (lost, NOT_GRADED),
        (hidden, "left out, since their names begin with a dot"),
        (late, "with late answers, by committers' clocks, which can be set at will"),
    ):
        if names:
            shown = f"{', '.join(names[:MOST_NAMES])}{', …' * (len(names) > MOST_NAMES)}"
            who = "" if names is hidden else f" learner{'s' * (len(names) != 1)}"
            console.print(f"{len(names)}{who} {what}: {shown}", markup=False, highlight=False, soft_wrap=True)
    return int(bool(unread or lost))


def todo(
    learners: list[Learner],
    keys: dict[tuple[str, str], str],
    ledger: Ledger,
    chosen: list[Kata],
    terms: tuple[str, int | None, str],
    seed: int,
) -> list[Job]:
    """What has no verdict yet, the katas that took longest first."""
    jobs: dict[str, Job] = {}
    by_name = {kata.id: kata for kata in chosen}
    for learner in learners:
        for name, answer in learner.answers.items():
            key = keys[learner.slug, name]
            if name in by_name and key not in jobs and ledger.find(key) is None:
                program = program_of(by_name[name], answer, *terms)
                source = replace(answer, shown=f"{name}.py")
                jobs[key] = Job(key, by_name[name], source, program, ledger.seed_of(program, seed))
    took = ledger.seconds()
    return sorted(jobs.values(), key=lambda job: (-took.get(job.kata.id, 0.0), job.kata.id))
