"""One kata of an interview: what the candidate did, what it counts, and what help cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean

from graders.desk.measured_tests import Measured
from graders.desk.progress import LEVELS_OF_HINTS

PHASES = ("clarify", "plan", "code", "test", "follow-up")
HINT_COSTS = (5, 10, 20)  # points, of the first hint, the second, the third
DIAGNOSIS_COST = 10
LIST_COST = 10  # of the list of clarifying questions, which tells the traps
EARNED, MOST_EARNED = 2, 10  # by each question that was asked in one's own words, and by all of them

assert len(HINT_COSTS) == LEVELS_OF_HINTS


@dataclass
class Answered:
    """A follow-up question, the candidate's answer, and what the candidate thinks of it."""

    question: str
    lines: list[str] = field(default_factory=list)
    revealed: bool = False  # the model answer was shown
    score: int | None = None  # 0 to 3; None: not yet


@dataclass(frozen=True)
class Submit:
    """The candidate's file, graded."""

    state: str
    score: int
    max_score: int
    failed: list[str]  # names of checks
    diagnosis: str | None
    cost: float | None  # its worst figure, in multiples of the reference's


@dataclass
class Round:
    """One kata of an interview.

    Args:
        kata, topic, level: which it is.
        minutes: that it should take.
        listed: the list of clarifying questions was looked at.
        asked: the clarifying questions that were asked, by number.
        typed: those of them that were understood in the candidate's own words.
        words: the candidate's own while clarifying; notes.
        plan: the candidate's own while planning.
        runs: (the file, whether it passed), of the candidate's own tests.
        test_file: the last one that was run.
        submits: in order; the last one counts.
        hints: the level that was reached.
        diagnoses: that were paid for.
        answers: to follow-up questions.
        seconds: spent in each phase.
        tested_first: own tests that were run before the first submission.
        tests: whether the last own tests pass on a right answer, how many known mistakes they catch, and of how many;
            None where that was not measured.
        plan_score: what the candidate thinks of the plan, beside the idea; None: not yet.
    """

    kata: str
    topic: str
    level: int
    minutes: int
    listed: bool = False
    asked: list[int] = field(default_factory=list)
    typed: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    runs: list[tuple[str, bool]] = field(default_factory=list)
    submits: list[Submit] = field(default_factory=list)
    hints: int = 0
    diagnoses: list[str] = field(default_factory=list)
    answers: list[Answered] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    tested_first: int = 0
    tests: tuple[bool, int, int] | None = None
    plan_score: int | None = None

    @property
    def last(self) -> Submit | None:
        return self.submits[-1] if self.submits else None

    @property
    def solved(self) -> bool:
        return self.last is not None and self.last.state == "solved"

    @property
    def score(self) -> int:
        """Of the last submission; 0 without one."""
        return self.last.score if self.last else 0

    @property
    def max_score(self) -> int:
        return 100 if self.last is None or not self.last.max_score else self.last.max_score

    @property
    def penalties(self) -> int:
        return sum(HINT_COSTS[: self.hints]) + DIAGNOSIS_COST * len(self.diagnoses) + LIST_COST * self.listed

    @property
    def earned(self) -> int:
        return min(EARNED * len(self.typed), MOST_EARNED)

    @property
    def measured(self) -> int:
        return min(max(self.score - self.penalties + self.earned, 0), self.max_score)

    @property
    def cost(self) -> float | None:
        return self.last.cost if self.last else None

    @property
    def self_scores(self) -> list[int]:
        return [answer.score for answer in self.answers if answer.score is not None]

    def answer(self, question: str) -> Answered:
        """To that question; an empty one where it was not answered yet."""
        return next((one for one in self.answers if one.question == question), Answered(question))


def marks(one: Round) -> list[tuple[str, int | None, str]]:
    """Five of them, of 0 to 3 each, and where each is from; None: not scored yet."""
    by_score = sum(one.score >= limit for limit in (50, 80, 100)) if one.last else 0
    return [
        ("clarify", min(len(one.typed), 3), "measured: questions in your own words that were understood"),
        ("plan", one.plan_score, "scored by yourself, beside the idea" if one.plan else "measured: there is no plan"),
        ("code", by_score, "measured: 50, 80 and 100 points of the last submission"),
        ("test", *tests_mark(one)),
        (
            "explain",
            round(mean(one.self_scores)) if one.self_scores else 0,
            "scored by yourself: the follow-up questions",
        ),
    ]


def tests_mark(one: Round) -> tuple[int, str]:
    """By the share of known mistakes that own tests catch; interviews of older versions had another measure."""
    if one.tests is None:
        tested = [passed for _, passed in one.runs]
        mark = bool(tested) + (one.tested_first > 0) + any(tested)
        return mark, "measured: own tests, before the first submission, passed"
    right, caught, known = one.tests
    mark = sum(right and caught >= share * known and caught > 0 for share in (0, 1 / 3, 2 / 3))
    return mark, f"measured: {Measured(*one.tests).in_words}"
