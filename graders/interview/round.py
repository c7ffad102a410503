"""One kata of an interview: what the candidate did, what it counts, and what help cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from graders.desk.progress import LEVELS_OF_HINTS

PHASES = ("clarify", "plan", "code", "test", "follow-up")
HINT_COSTS = (5, 10, 20)  # points, of the first hint, the second, the third
DIAGNOSIS_COST = 10
LIST_COST = 10  # of the list of clarifying questions, which tells the traps
EARNED, MOST_EARNED = 2, 10  # by each question about the kata's traps in one's own words, and by all of them

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
        partner: somebody interviews: they count the questions and give the scores.
        after: the kata before it whose changed requirement it is; empty where it stands for itself.
        listed: the list of clarifying questions was looked at.
        asked: the clarifying questions that were asked, by number.
        typed: those of them that were understood in the candidate's own words.
        traps: those of these that are about the kata's own traps, and not what is asked of any kata.
        last_asked: the number of the question that was asked last, if it was asked for the first time.
        words: the candidate's own while clarifying; notes.
        plan: the candidate's own while planning.
        runs: (the file, whether it passed), of the candidate's own tests.
        submits: in order; the last one counts.
        hints: the level that was reached.
        diagnoses: that were paid for.
        answers: to follow-up questions.
        seconds: spent in each phase.
        tested_first: own tests that were run before the first submission.
        tests: whether the last own tests pass on a right answer, how many known mistakes they catch, and of how many:
            of none where they could not be measured; None where they were not yet.
        plan_score: what the candidate, or the partner, thinks of the plan, beside the idea; None: not yet.
        reached: the phases that were, in order.
    """

    kata: str
    topic: str
    level: int
    minutes: int
    partner: bool = False
    after: str = ""
    listed: bool = False
    asked: list[int] = field(default_factory=list)
    typed: list[int] = field(default_factory=list)
    traps: list[int] = field(default_factory=list)
    last_asked: int | None = None
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
    reached: list[str] = field(default_factory=list)

    @property
    def phases(self) -> tuple[str, ...]:
        """A twist says itself what it leaves open; questions can still be asked."""
        return PHASES[1:] if self.after else PHASES

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
        return min(EARNED * len(self.traps), MOST_EARNED)

    @property
    def measured(self) -> int:
        return min(max(self.score - self.penalties + self.earned, 0), self.max_score)

    @property
    def cost(self) -> float | None:
        return self.last.cost if self.last else None

    @property
    def scorer(self) -> str:
        return "your interviewer" if self.partner else "yourself"

    @property
    def self_scores(self) -> list[int]:
        return [answer.score for answer in self.answers if answer.score is not None]

    def answer(self, question: str) -> Answered:
        """To that question; an empty one where it was not answered yet."""
        return next((one for one in self.answers if one.question == question), Answered(question))
