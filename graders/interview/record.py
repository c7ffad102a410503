"""What an interview's events add up to: where it stands while it goes on, and what there is to report of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graders.desk.progress import cost_of, progress_of
from graders.desk.sat import Sat, sat
from graders.desk.state import Event
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, Answered, Round, Submit

MOST_SELF = 3  # the best score that one can give oneself for an answer


@dataclass
class InterviewReport(Sat):
    """One interview.

    Args:
        rounds: its katas, in order.
        position, phase: where it stands; no phase before the first.
        partner: somebody interviews, and gives the scores.
        review: kata -> when it should be done again; None: it is not solved yet, so now.
        timeline: (seconds, what happened, in words).
    """

    rounds: list[Round]
    position: int = 0
    phase: str = ""
    partner: bool = False
    review: dict[str, datetime | None] = field(default_factory=dict)
    timeline: list[tuple[float, str]] = field(default_factory=list)

    @property
    def round(self) -> Round:
        """The one that it stands at."""
        return self.rounds[self.position]

    @property
    def runs(self) -> list[tuple[str, bool]]:
        return self.round.runs

    def coming(self, kata: str) -> list[str]:
        """The kata that this one turns into, where it does."""
        return [one.kata for one in self.rounds if one.after == kata]

    @property
    def measured(self) -> int:
        return sum(one.measured for one in self.rounds)

    @property
    def max_score(self) -> int:
        return sum(one.max_score for one in self.rounds)

    @property
    def self_scores(self) -> list[int]:
        return [score for one in self.rounds for score in one.self_scores]

    def add(self, event: Event) -> str | None:
        """The time since the event before it was spent in the phase, and at the kata, of before."""
        before, limit = self.elapsed, 60.0 * self.minutes
        if self.phase:
            passed = max(event.body["elapsed"] - self.elapsed, 0.0)
            self.round.seconds[self.phase] = self.round.seconds.get(self.phase, 0.0) + passed
        if "kata" in event.body:
            self.position = [one.kata for one in self.rounds].index(event.body["kata"])
        words = super().add(event)
        if before < limit < self.elapsed:
            self.timeline.append((limit, "time was up"))
        if words:
            self.timeline.append((self.elapsed, words))
        return words

    def add_phase(self, body: dict[str, Any], event: Event) -> str:
        self.phase = body["phase"]
        self.round.reached.append(self.phase)
        return f"{body['kata']}: {self.phase}"

    def add_list(self, body: dict[str, Any], event: Event) -> str:
        self.round.listed = True
        return "looked at the list of questions"

    def add_ask(self, body: dict[str, Any], event: Event) -> str:
        """Older versions did not tell whether it is a trap."""
        self.understood(body)
        one, number = self.round, body["number"]
        if number not in one.asked:
            one.asked.append(number)
            if "typed" in body:
                one.typed.append(number)
            if ("typed" in body or "picked" in body) and body.get("trap", True):
                one.traps.append(number)
            one.last_asked = number
        else:
            one.last_asked = None
        return f"asked: {body['question']}"

    def add_general(self, body: dict[str, Any], event: Event) -> str:
        self.understood(body)
        self.round.last_asked = None
        return f"asked: {body['question']}"

    def add_back(self, body: dict[str, Any], event: Event) -> str:
        """What the last words were taken for was not meant."""
        one = self.round
        for numbers in (one.asked, one.typed, one.traps):
            if one.last_asked in numbers:
                numbers.remove(one.last_asked)
        one.words.append(body["text"])
        return f"took back: {body['question']}"

    def understood(self, body: dict[str, Any]) -> None:
        """The words that were asked back, and confirmed."""
        words = body.get("typed", body.get("picked"))
        self.round.words = [known for known in self.round.words if known != words]

    def add_words(self, body: dict[str, Any], event: Event) -> None:
        self.round.words.append(body["text"])

    def add_plan(self, body: dict[str, Any], event: Event) -> None:
        self.round.plan.append(body["text"])

    def add_run(self, body: dict[str, Any], event: Event) -> str:
        self.round.runs.append((body["file"], body["passed"]))
        self.round.tested_first += not self.round.submits
        return f"ran own tests: {'passed' if body['passed'] else 'failed'}"

    def add_tests(self, body: dict[str, Any], event: Event) -> str:
        self.round.tests = body["right"], body["caught"], body["known"]
        if not body["known"]:
            return "own tests were not measured"
        return f"own tests caught {body['caught']} of {body['known']} known mistakes"

    def add_submit(self, body: dict[str, Any], event: Event) -> str:
        made = Submit(
            body["state"], body["score"], body["max_score"], body["failed"], body["diagnosis"], cost_of(event)
        )
        self.round.submits.append(made)
        return f"submitted: {made.state}, {made.score}/{made.max_score}"

    def add_diagnose(self, body: dict[str, Any], event: Event) -> str:
        self.round.diagnoses.append(body["diagnosis"])
        return f"diagnosis, -{DIAGNOSIS_COST}"

    def add_hint(self, body: dict[str, Any], event: Event) -> str:
        self.round.hints = max(self.round.hints, body["level"])
        return f"hint {body['level']}, -{HINT_COSTS[body['level'] - 1]}"

    def answer(self, question: str) -> Answered:
        made = self.round.answer(question)
        if made not in self.round.answers:
            self.round.answers.append(made)
        return made

    def add_answer(self, body: dict[str, Any], event: Event) -> None:
        self.answer(body["question"]).lines.append(body["text"])

    def add_reveal(self, body: dict[str, Any], event: Event) -> None:
        self.answer(body["question"]).revealed = True

    def add_score(self, body: dict[str, Any], event: Event) -> str:
        self.answer(body["question"]).score = body["score"]
        return f"question {len(self.round.self_scores)}: own score {body['score']} of {MOST_SELF}"

    def add_plan_score(self, body: dict[str, Any], event: Event) -> str:
        self.round.plan_score = body["score"]
        return f"plan: own score {body['score']} of {MOST_SELF}"

    def add_partner(self, body: dict[str, Any], event: Event) -> str:
        """The interviewer's scores, of all katas."""
        for one, scores in zip(self.rounds, body["rounds"], strict=True):
            one.asked = one.typed = scores["asked"]
            one.traps, one.plan_score, one.hints = scores["traps"], scores["plan"], scores["hints"]
            one.answers = [Answered(question, [], True, score) for question, score in scores["answers"].items()]
        return "scored by the interviewer"


def begun(event: Event) -> InterviewReport:
    """What its first event says."""
    body = event.body
    partner = body.get("partner", False)
    rounds = [
        Round(one["kata"], one["topic"], one["level"], one["minutes"], partner, one.get("after", ""))
        for one in body["katas"]
    ]
    made = InterviewReport(body["interview"], event.at, body["minutes"], body["seed"], rounds, partner=partner)
    made.add(event)
    return made


def reports(events: Iterable[Event]) -> list[InterviewReport]:
    """All interviews, the oldest first, from all events."""
    everything = list(events)
    found = sat("interview", begun, everything)
    progress = progress_of(everything, sorted({one.kata for made in found for one in made.rounds}))
    for made in found:
        for one in made.rounds:
            known = one.solved or not progress[one.kata].open
            made.review[one.kata] = progress[one.kata].due if known else None
    return found
