"""What a judge's process does: it judges one job after the other, and tells what it finds; see WarmJudge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import GraderError, UsageError
from graders.judge.results import Result
from graders.judge.run import Options, source_of
from graders.judge.warm import WarmJudge
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.machine import give_back_memory, keep_freed_memory, keep_to

TELL_SECONDS = 0.1  # what was found meanwhile is told at once: each telling interrupts a judge


@dataclass(frozen=True)
class Job:
    """What a judge is asked.

    Args:
        source: by default the learner's file, or the reference where that is asked for.
        selected: the checks to ask, by name; all by default.
        whole: only the whole result is told, not what is found on the way.
    """

    kata: str
    asked: Options
    source: Source | None = None
    selected: frozenset[str] | None = None
    whole: bool = False


@dataclass(frozen=True)
class Found:
    """What a judge tells of a job.

    Args:
        result: with the outcomes since it told last.
        traces: by check, those of faults of the grader.
        seconds: that the job took so far.
    """

    result: Result
    traces: dict[str, str]
    seconds: float


def serve(
    jobs: Iterable[Job], tell: Callable[[Found | GraderError], None], root: Path, launcher: Launcher, kept: int = 1
) -> None:
    """Until there are no more jobs. Graders, expected values and known mistakes of the last `kept` katas stay."""
    keep_to(launcher.processor)
    keep_freed_memory()
    torch.set_num_threads(1)
    judges: dict[tuple[str, int], tuple[Kata, WarmJudge]] = {}
    home = Home()
    try:
        for job in jobs:
            began = time.perf_counter()
            own = job.kata, job.asked.seed
            try:
                if own not in judges:
                    if len(judges) == kept:
                        judges.pop(next(iter(judges)))[1].close()
                        if kept > 1:  # it goes on for hours
                            give_back_memory()  # a million scores, many times, which no later kata has use for
                    judges[own] = katas.find_one(job.kata, root), WarmJudge(launcher, job.asked.seed, home)
                do(job, *judges[own], began, tell)
            except (GraderError, UsageError) as error:
                tell(GraderError(f"{job.kata}: {error}"))
    finally:
        for _, judge in judges.values():
            judge.close()
        home.close()


def do(job: Job, kata: Kata, judge: WarmJudge, began: float, tell: Callable[[Found | GraderError], None]) -> None:
    """Raises: GraderError."""
    told, due, traces = 0, 0.0, dict[str, str]()
    source = job.source or source_of(kata, kata.reference_file if job.asked.reference else kata.answer_file)
    for result, check, trace in judge.each_check(kata, source, job.asked, selected=job.selected):
        if trace:
            traces[check] = trace
        if result.complete or not (job.whole or time.monotonic() < due):
            since = replace(result, outcomes=result.outcomes[told:], source_text="", requests={})
            tell(Found(since, traces, round(time.perf_counter() - began, 3)))
            told, due, traces = len(result.outcomes), time.monotonic() + TELL_SECONDS, {}
