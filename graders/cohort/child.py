"""The process of a warm judge: it reads a line of JSON for each answer, and writes one with the verdict.

It is not Dask's worker, since a judge forks, and Dask's workers run threads.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import GraderError, UsageError
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import give_back_memory, keep_freed_memory, keep_to, new_launcher

KEPT = 3  # katas whose graders, expected values and known mistakes stay in memory: they come one after the other


def serve(root: str, seed: str, processor: str = "") -> None:
    """What the judge's process does, until nobody asks any more."""
    gc.freeze()  # what came with torch need not be looked at by each collection
    launcher = new_launcher(int(processor) if processor else None)  # before any grader is imported
    say({"isolation": launcher.isolation})
    keep_to(launcher.processor)
    torch.set_num_threads(1)
    keep_freed_memory()
    judges: dict[str, tuple[Kata, WarmJudge]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            began = time.perf_counter()
            asked = json.loads(line)
            name = asked["kata"]
            file = Path(folder, f"{name}.py")
            file.write_bytes(base64.b64decode(asked["content"]))
            with file.open("r+b") as stream:
                stream.truncate(asked["size"])  # of a file that is too large no more came than its size
            try:
                if name not in judges:
                    if len(judges) == KEPT:
                        judges.pop(next(iter(judges)))[1].close()
                        give_back_memory()  # a million scores, many times, which no later kata has use for
                    judges[name] = katas.find_one(name, Path(root)), WarmJudge(launcher, int(seed))
                kata, judge = judges[name]
                result = judge.grade(kata, file).document()
            except (GraderError, UsageError) as error:
                say({"fault": f"{name}: {error}"})
                continue
            document = shown_as(result, result["source"], file.name)
            say({"document": document, "seconds": round(time.perf_counter() - began, 3)})
    for _, judge in judges.values():
        judge.close()
    launcher.close()


def shown_as(value: Any, path: str, name: str) -> Any:
    """The same document with the file under another name."""
    if isinstance(value, str):
        return value.replace(path, name)
    if isinstance(value, list):
        return [shown_as(one, path, name) for one in value]
    return {key: shown_as(one, path, name) for key, one in value.items()} if isinstance(value, dict) else value


def say(message: dict[str, Any]) -> None:
    """Raises: BrokenPipeError where nobody listens any more."""
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(sys.stdout.fileno(), line) :]
