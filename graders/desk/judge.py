"""A judge that stays: what it takes to judge a kata once more is kept warm between two of its learner's saves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graders import processes
from graders.exam import Exam
from graders.katas import Kata
from graders.mistakes import Diagnosis
from graders.results import Result
from graders.run import DEFAULT_SEED, Options, Run
from graders.submission import Submission


class Judge:
    """Judges one file after the other in this process, on the CPU. Make its launcher before any grader is imported."""

    def __init__(self, launcher: processes.Launcher, seed: int = DEFAULT_SEED) -> None:
        self.launcher = launcher
        self.seed = seed
        self.exams: dict[str, list[Exam]] = {}
        self.references: dict[str, Submission] = {}
        self.diagnoses: dict[str, Diagnosis] = {}

    def grade(
        self,
        kata: Kata,
        path: Path,
        watcher: Callable[[Result], None] = lambda result: None,
        only: str = "",
    ) -> Result:
        """`watcher` is called after each check; `only` is a category, whose checks are asked up to the first failure.

        Raises: GraderError where the kata's grader cannot grade.
        """
        asked = Options(submissions=[path], seed=self.seed, first_failure=bool(only))
        run = Run(asked, self.launcher, watcher)
        run.exams, run.references, run.diagnoses = self.exams, self.references, self.diagnoses
        try:
            for pending, check in run.prepare(kata, path):
                if only in ("", check.category):
                    pending.settle(check)
        finally:
            for pending in run.pending.values():
                pending.trial.submission.close()
            for diagnosis in self.diagnoses.values():
                diagnosis.close()  # their workers; what they answered is kept
        return run.results[0]

    def close(self) -> None:
        """The launcher stays: it belongs to whoever made it."""
        for reference in self.references.values():
            reference.close()
