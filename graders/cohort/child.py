"""The process of a warm judge of a class: it reads jobs from its input, and writes what came of them; see process.py.

It is not Dask's worker, since a judge forks, and Dask's workers run threads.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

from graders.cohort.ledger import version
from graders.faults import PACK
from graders.judge import process
from graders.judge.process import Job
from graders.sandbox.launcher import new_launcher

KEPT = 3  # katas that a judge remembers: their answers come one after the other


def serve(root: str, processor: str = "") -> None:
    """What the judge's process does, until nobody asks any more."""
    gc.freeze()  # what came with torch need not be looked at by each collection
    told = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # where a grader's own prints go

    def tell(what: object) -> None:
        message = pickle.dumps(what)
        while message:
            message = message[os.write(told, message) :]

    os.environ[PACK] = root  # which a cage hides
    launcher = new_launcher(int(processor) if processor else None)  # before any grader is imported
    with contextlib.suppress(BrokenPipeError), contextlib.closing(launcher):
        tell((launcher.isolation, version(Path(root))))
        process.serve(asked(), tell, Path(root), launcher, KEPT)


def asked() -> Iterator[Job]:
    with contextlib.suppress(EOFError):
        while True:
            yield pickle.load(sys.stdin.buffer)
