"""Questions about calls in unusual modes, and the simplest mode in which one fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graders.faults import CheckFailed, GivenUp
from graders.judge.modes import Mode
from graders.judge.trial import Trial
from graders.kata.spec import Answer, Case
from graders.sandbox.messages import Request

Question = Callable[[Request, int, Mode], None]  # of the call with that index, in that mode
# What a message names only where nothing else explains the failure comes first.
SIMPLER = (
    "passing", "leaves", "twice", "parameters", "beside", "switched", "evaluating", "inference", "gradients", "part",
    "dtype", "strided",
)  # fmt: skip


def failure_of(
    answer: Answer, case: Case, trial: Trial, question: Question, index: int, mode: Mode
) -> CheckFailed | None:
    try:
        question(trial.vectors.request(answer, case, mode, index), index, mode)
    except CheckFailed as failure:
        return failure
    return None


def failing(answer: Answer, case: Case, trial: Trial, question: Question) -> list[tuple[int, Mode]]:
    """The case's calls in unusual modes of which the question fails."""
    modes = trial.vectors.crossed(answer)[case.name]
    trial.ask_all([trial.vectors.request(answer, case, mode, index) for index, mode in modes])
    return [call for call in modes if failure_of(answer, case, trial, question, *call)]


def tell(answer: Answer, case: Case, trial: Trial, question: Question, index: int, mode: Mode) -> None:
    """Raises what is told of a call that fails: of the simplest mode in which it still does."""
    failure, simplest = failure_of(answer, case, trial, question, index, mode), mode
    for factor in SIMPLER if failure and failure.kind == "fail" else ():
        simpler = replace(simplest, **{factor: getattr(Mode(case.dtypes[0]), factor)})
        found = failure_of(answer, case, trial, question, index, simpler)
        simplest = simpler if found and not isinstance(found, GivenUp) else simplest
    if failure:
        raise failure_of(answer, case, trial, question, index, simplest) or failure


def in_modes(answer: Answer, case: Case, trial: Trial, question: Question) -> None:
    """Asks a question of the case's calls in unusual modes."""
    for index, mode in failing(answer, case, trial, question):
        tell(answer, case, trial, question, index, mode)
