"""`grade`: looks at what was asked for, has servers for workers started, and lets a session run."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path

import torch

from graders import files
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import PACK, complain
from graders.grade.parallel import Parallel
from graders.judge import results
from graders.judge.run import DEFAULT_SEED, Options, source_of
from graders.sandbox.launcher import forks, new_launchers


def main(options: argparse.Namespace, root: Path) -> int:
    chosen = katas.find(options.katas, root)
    if options.submission and len(chosen) != 1:
        return complain(f"--submission needs exactly one KATA, got {len(chosen) if options.katas else 'none'}")
    for path in options.submission:
        if not os.path.exists(path):  # nor where it is forbidden to look
            return complain(f"--submission {path} does not exist; check the path")
    for path in (options.json, options.junit):
        if path:
            files.make_room(path, results.ELSEWHERE)  # before the work, not after it
    if options.submission and options.reference:
        return complain("--submission and --reference exclude each other; name one of them")
    # Before there is a seed, and before CUDA is touched: neither survives a fork.
    launchers = new_launchers(judges(options, len(chosen)))
    try:
        if options.isolation == "strict" and launchers[0].isolation != "full":
            return complain(
                f"isolation is {launchers[0].isolation!r} here, not 'full'; see SECURITY.md, or drop --isolation strict"
            )
        if options.device == "cuda" and not torch.cuda.is_available():
            return complain("there is no CUDA device here; grade with --device cpu")
        if options.device == "all" and not torch.cuda.is_available():
            print("no CUDA device here: graded on the CPU alone", file=sys.stderr)
        asked = what_is_asked(options, chosen[0])
        parallel = Parallel(asked, chosen, launchers)
        try:
            alone = apart(options) and len(chosen) == 1 and len(options.submission) < 2
            if (alone or len(launchers) > 1) and not options.k:  # else pytest has to say what is selected
                parallel.start()
            from graders.grade import session  # it imports pytest, while the servers build their cages

            return session.main(options, root, parallel)
        finally:
            parallel.stop()
    finally:
        for launcher in launchers:
            launcher.close()


def what_is_asked(options: argparse.Namespace, kata: Kata) -> Options:
    seed = options.seed
    if seed is None:
        drawn = options.submission or os.environ.get("CI")  # else a file could be right on the known inputs alone
        seed = secrets.randbelow(1 << 31) if drawn else DEFAULT_SEED
    devices = [options.device]
    if options.device in (None, "all"):
        devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    here = Path.cwd() if PACK in os.environ else None  # a pack's folder is not where the card's `rerun` is typed
    submissions = [source_of(kata, path.absolute(), here) for path in options.submission]
    if options.shown:
        submissions = [replace(one, shown=options.shown) for one in submissions]
    return Options(options.reference, submissions, seed, devices, options.x)


def judges(options: argparse.Namespace, katas: int) -> int:
    """How many judge at once."""
    return min(options.workers or os.cpu_count() or 1, katas) if apart(options) else 1


def apart(options: argparse.Namespace) -> bool:
    """Whether judges have processes of their own; not where there may be a GPU: who has asked CUDA cannot be forked."""
    return forks() and (options.device == "cpu" or not any(Path("/dev").glob("nvidia[0-9]*")))
