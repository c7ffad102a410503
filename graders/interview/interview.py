"""The interview itself: one kata after the other, its phases, and the questions at its end.

All that happens is an event first, so that an interview that was cut off stands where its last event left it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.state import State
from graders.faults import UsageError
from graders.interview import draw
from graders.interview.clock import Clock, in_words
from graders.interview.pace import Pace
from graders.interview.record import InterviewReport
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST, PHASES, Round
from graders.interview.terminal import Terminal
from graders.judge.warm import WarmJudge

if TYPE_CHECKING:
    from graders.interview.matching import Matcher

VIA = "interview"
INTRODUCTIONS = {
    "clarify": "The task leaves things open on purpose. Type the questions that you would ask, one on each line: I "
    f"answer, and good ones earn points. `questions` lists those that I expect (-{LIST_COST} points), `next` goes on "
    "to your plan.",
    "plan": "Say how you will do it: the formula, the shapes, the traps, what it costs. Every line is noted; `next` "
    "when you want to write it.",
    "code": f"Write it into {{file}}, in your own editor. `run` runs tests of yours, `hint` helps (-{HINT_COSTS[0]} "
    "points), `next` when it is written.",
    "test": "Look for what might break it, with `run`. `submit` has it graded: as often as you like, and the last time "
    f"counts. `diagnose` names a known mistake (-{DIAGNOSIS_COST} points), `next` goes on to my questions.",
    "follow-up": "{questions} to end with. Answer each in as many lines as you like, and then an empty one; or `skip` "
    "it. You see my answer then, and score your own.",
}


class Interview:
    """One interview, from where it stands to its end or until it is cut off."""

    def __init__(
        self,
        state: State,
        katas: Sequence[Kata],
        report: InterviewReport,
        clock: Clock,
        terminal: Terminal,
        judge: WarmJudge,
    ) -> None:
        """Raises: UsageError where what should be asked cannot be read."""
        self.state = state
        self.katas = {kata.id: kata for kata in katas}
        self.report = report
        self.clock = clock
        self.terminal = terminal
        self.judge = judge
        self.pace = Pace(report, clock)
        self.shown = ""  # the follow-up question that is on the screen
        self.offered: tuple[tuple[int, ...], str] | None = None  # the questions that may be meant, and by which words
        self.count = len(self.events())
        self.prompts = {kata.id: texts.prompt(kata) for kata in katas}
        self.clarifying = {kata.id: texts.clarifying(kata) for kata in katas}
        self.general = {kata.id: texts.general(kata) for kata in katas}
        self.matchers: dict[str, Matcher] = {}
        self.hints = {kata.id: texts.hints(kata) for kata in katas}
        self.follow_ups = {kata.id: draw.follow_ups(texts.follow_ups(kata), report.seed, kata.id) for kata in katas}

    @property
    def round(self) -> Round:
        return self.report.round

    @property
    def kata(self) -> Kata:
        return self.katas[self.round.kata]

    @property
    def phase(self) -> str:
        return self.report.phase

    @property
    def file(self) -> Path:
        """Where the candidate writes; what the learner wrote before stays as it is."""
        return attempts.file_for(self.kata, VIA)

    @property
    def matcher(self) -> Matcher:
        """Understands questions about the kata at hand; made when the first is asked, since that takes a second."""
        from graders.interview.matching import matcher_of

        if self.kata.id not in self.matchers:
            self.matchers[self.kata.id] = matcher_of(self.kata)
        return self.matchers[self.kata.id]

    def events(self) -> list[Any]:
        return [event for event in self.state.events("") if event.body.get("interview") == self.report.id]

    def add(self, what: str, **body: Any) -> None:
        """Raises: UsageError where it cannot be remembered; then it has not happened."""
        if len(self.events()) != self.count:
            raise UsageError(
                "this interview went on in another terminal: go on there, or end that one and use --resume"
            )
        document = {"interview": self.report.id, "what": what, "elapsed": round(self.clock(), 1)} | body
        self.report.add(self.state.add("interview", "", document))
        self.count += 1

    def note(self, what: str, **body: Any) -> None:
        """The same, about the kata at hand."""
        self.add(what, kata=self.round.kata, **body)

    def say(self, text: str = "") -> None:
        self.terminal.say(text)

    def left(self) -> str:
        """`31:07 left`, or `2:10 over`."""
        left = 60 * self.report.minutes - self.clock()
        return f"{in_words(math.ceil(left))} left" if left >= 0 else f"{in_words(-left)} over"

    def ask(self, more: str = "") -> str:
        return self.terminal.ask(lambda: f"[{self.phase}  {self.left()}] {more}> ", self.pace)

    def confirm(self, question: str) -> bool:
        self.say(question)
        return self.terminal.ask(lambda: "yes/no > ", self.pace).strip().lower() in ("y", "yes")

    def go_on(self) -> None:
        """To the next phase, to the next kata, or to the end. Raises: UsageError."""
        if self.phase != PHASES[-1]:
            self.enter(self.round.kata, PHASES[PHASES.index(self.phase) + 1])
        elif self.report.position + 1 < len(self.report.rounds):
            self.enter(self.report.rounds[self.report.position + 1].kata, PHASES[0])
        else:
            self.add("end", how="finished")

    def enter(self, name: str, phase: str, quietly: bool = False) -> None:
        """Raises: UsageError."""
        if phase == "code":  # before it is told: else a cut in between would leave what stood there
            attempts.begin(self.state, self.katas[name], VIA, todo=False)
        self.add("phase", kata=name, phase=phase)
        if not quietly:
            self.introduce()

    def introduce(self) -> None:
        """Where the interview stands, and what there is to do."""
        one, count = self.round, len(self.report.rounds)
        place = f"{self.report.position + 1} of {count}: " if count > 1 else ""
        if self.phase == "clarify":
            self.terminal.heading(f"{place}{one.kata} ({one.topic}, level {one.level}, about {one.minutes} minutes)")
            self.terminal.markdown(self.prompts[one.kata])
            self.say()
        else:
            self.terminal.heading(f"{place}{one.kata}, {self.phase}")
        asked = len(self.follow_ups[one.kata])
        words = {"file": attempts.shown(self.kata, VIA), "questions": f"{asked} question{'s' if asked > 1 else ''}"}
        self.say(INTRODUCTIONS[self.phase].format(**words))
