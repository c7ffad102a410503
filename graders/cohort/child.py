"""The process of a warm judge: it reads a line of JSON for each answer, and writes one with the verdict.

It is not Dask's worker, since a judge forks, and Dask's workers run threads.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.cohort.ledger import version
from graders.faults import GraderError, UsageError
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher
from graders.sandbox.machine import give_back_memory, keep_freed_memory, keep_to

KEPT = 3  # katas whose graders, expected values and known mistakes stay in memory: they come one after the other


def serve(root: str, processor: str = "") -> None:
    """What the judge's process does, until nobody asks any more."""
    gc.freeze()  # what came with torch need not be looked at by each collection
    launcher = new_launcher(int(processor) if processor else None)  # before any grader is imported
    terms = {"isolation": launcher.isolation, "graders": version(Path(root))}
    keep_to(launcher.processor)
    torch.set_num_threads(1)
    keep_freed_memory()
    judges: dict[tuple[str, int], tuple[Kata, WarmJudge]] = {}
    with contextlib.suppress(BrokenPipeError):
        say(terms)
        for line in sys.stdin.buffer:
            began = time.perf_counter()
            asked = json.loads(line)
            name, seed = own = asked["kata"], asked["seed"]
            try:
                if own not in judges:
                    if len(judges) == KEPT:
                        judges.pop(next(iter(judges)))[1].close()
                        give_back_memory()  # a million scores, many times, which no later kata has use for
                    judges[own] = katas.find_one(name, Path(root)), WarmJudge(launcher, seed)
                kata, judge = judges[own]
                document = judge.grade(kata, Source(**asked["source"])).document()
            except (GraderError, UsageError) as error:
                say({"fault": f"{name}: {error}"})
                continue
            seconds = round(time.perf_counter() - began, 3)
            say({"document": document, "seconds": seconds, "terms": terms | {"seed": judge.seed}})
    for _, judge in judges.values():
        judge.close()
    launcher.close()


def say(message: dict[str, Any]) -> None:
    """Raises: BrokenPipeError where nobody listens any more."""
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(sys.stdout.fileno(), line) :]
