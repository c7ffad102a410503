"""Judges all known mistakes of a kata in one process, each up to its first failure: `prove` starts it.

Through the learner's door a mistake is asked everything, since a diagnosis needs all replies. Here it is asked on until
a check fails, and then only what tells it from the mistakes before it.
"""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.faults import CheckFailed, GraderError
from graders.judge import checks
from graders.judge.checks import Check
from graders.judge.diagnosis import Diagnosis
from graders.judge.exam import Exam
from graders.judge.run import DEFAULT_SEED
from graders.judge.trial import Trial
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.messages import Request
from graders.sandbox.submission import Submission


def tell(root: Path, name: str) -> None:
    """Prints, as JSON, what came of each form of the kata's mistakes. Raises: GraderError."""
    gc.freeze()
    launcher = new_launcher()  # before a grader is imported
    assert launcher.isolation
    torch.set_num_threads(1)
    try:
        print(json.dumps(verdicts(katas.find_one(name, root), launcher)))
    finally:
        launcher.close()


def verdicts(kata: Kata, launcher: Launcher) -> list[dict[str, Any]]:
    """For each form: its name, the state and message of a whole run, and the mistake that it is taken for."""
    source = read_source(kata.reference_file, kata.reference_file.name)
    forms = [form for mistake in kata.mistakes for form in mistake.forms(source)]
    exam, planned = Exam(kata.id, kata.grader, DEFAULT_SEED), checks.plan(kata.grader, kata.module)
    right, reference = (
        Submission("reference.py", source, kata.grader.names, launcher, kata.grader.banned) for _ in range(2)
    )
    diagnosis = Diagnosis(kata, launcher)
    found = []
    try:
        failed = first_failure(planned, Trial(exam, right, reference, {}))
        if failed:
            raise GraderError(f"the reference should pass, but {failed[0].name}: {failed[1]}")
        asked = [request for request, _ in right.replies.values()]
        for form, (_, one) in zip(forms, diagnosis.candidates, strict=True):
            trial = Trial(exam, one, reference, {})
            failed = first_failure(planned, trial)
            verdict: dict[str, Any] = {"form": form, "state": "solved", "message": "", "mistake": None}
            if failed:
                check, message = failed
                slow = check.category == "performance"
                mistake = diagnosis.closest(one, in_order(trial, asked), slow)
                verdict |= {"state": "error" if one.unloadable else "failing", "message": f"{check.name}: {message}"}
                verdict |= {"mistake": mistake and mistake.name}
            found.append(verdict)
        return found
    finally:
        diagnosis.close()
        for submission in (right, reference):
            submission.close()


def first_failure(planned: tuple[Check, ...], trial: Trial) -> tuple[Check, str] | None:
    for check in planned:
        trial.last = None
        try:
            check.ask(trial)
        except CheckFailed as failure:
            return check, str(failure)
    return None


def in_order(trial: Trial, asked: list[Request]) -> list[Request]:
    """The call that failed first of all, then what was asked before it, then all that the reference was asked."""
    own = [request for request, _ in trial.submission.replies.values()]
    ordered = ([trial.last] if trial.last else []) + own + asked
    return list({request.message: request for request in ordered}.values())
