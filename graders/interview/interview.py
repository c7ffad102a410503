"""The interview itself: one kata after the other, its phases, and the questions at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.catalogue.stub import is_untouched, signatures, stub_for
from graders.catalogue.texts import Question
from graders.desk import attempts
from graders.desk.measured_tests import measure
from graders.desk.state import State
from graders.faults import UsageError
from graders.interview import draw
from graders.interview.contract import Contract
from graders.interview.pace import pace_of
from graders.interview.record import InterviewReport
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST, Round
from graders.judge.warm import WarmJudge
from graders.sitting.asking_back import Offer
from graders.sitting.clock import Clock
from graders.sitting.interrupts import stoppable, whole
from graders.sitting.sitting import Sitting
from graders.sitting.terminal import Terminal

if TYPE_CHECKING:
    from graders.sitting.matching import Matcher

VIA = "interview"
WRITING = ("code", "test")
INTRODUCTIONS = {
    "clarify": "The task leaves things open on purpose. Type the questions that you would ask, one on each line. "
    "I answer, and questions about the task's traps earn points. `questions` lists those that I expect "
    f"(-{LIST_COST} points), `next` goes on to your plan.",
    "plan": "Say how you will do it: the formula, the shapes, the traps, what it costs. Every line is noted. Type "
    "`next` when you want to write the code.",
    "code": f"Write it into {{file}}, in {{editor}}. `run` runs tests of yours, `hint` helps (-{HINT_COSTS[0]} "
    "points). Type `next` when it is written.",
    "test": "Look for what might break it, with `run`. `submit` grades it, as often as you like; the last submission "
    f"counts. `diagnose` names a known mistake (-{DIAGNOSIS_COST} points), `next` goes on to my questions.",
    "follow-up": "{questions} to end with. Answer each in as many lines as you like, then type an empty line; or "
    "`skip` it. You then see my answer, point by point, and tick what you said.",
}


class Interview(Sitting):
    """One interview."""

    kind = noun = VIA
    introductions: ClassVar[Mapping[str, str]] = INTRODUCTIONS

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
        super().__init__(state, report, clock, terminal, judge, pace_of(report, clock))
        self.katas = {kata.id: kata for kata in katas}
        self.report = report
        self.shown = ""  # the follow-up question that is on the screen
        self.offer: Offer | None = None  # the questions that may be meant
        self.prompts = {kata.id: texts.prompt(kata) for kata in katas}
        self.clarifying = {kata.id: texts.clarifying(kata) for kata in katas}
        self.general = {kata.id: texts.general(kata) for kata in katas}
        self.matchers: dict[str, Matcher] = {}
        self.hints = {kata.id: texts.hints(kata) for kata in katas}
        self.twists = {kata.id: twist for kata in katas if (twist := texts.twist(kata))}
        self.follow_ups = {kata.id: self.to_be_asked(kata) for kata in katas}

    def to_be_asked(self, kata: Kata) -> list[Question]:
        """At the end of a kata; last comes its twist. If that is to be written, nothing that gives it away is asked."""
        coming = {one.kata for one in self.report.rounds if one.after == kata.id}
        prepared = [one for one in texts.follow_ups(kata) if coming.isdisjoint(one.gives_away)]
        asked = draw.follow_ups(prepared, self.report.seed, kata.id)
        return asked if coming or kata.id not in self.twists else [*asked, self.twists[kata.id].question]

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
    def at(self) -> str:
        return self.phase

    @property
    def runs(self) -> list[tuple[str, bool]]:
        return self.round.runs

    @property
    def file(self) -> Path:
        return attempts.file_for(self.kata, VIA)

    @property
    def matcher(self) -> Matcher:
        """Understands questions about the kata at hand; made when the first is asked, since that takes a second."""
        from graders.sitting.matching import matcher_of

        if self.kata.id not in self.matchers:
            self.matchers[self.kata.id] = matcher_of(self.kata)
        return self.matchers[self.kata.id]

    @property
    def contract(self) -> Contract:
        """Answers what everybody asks about the kata at hand."""
        return Contract(self.kata, [*self.clarifying[self.kata.id], *self.general[self.kata.id]])

    def go_on(self) -> None:
        """To the next phase, to the next kata, or to the end. Raises: UsageError."""
        if self.phase == "test":
            self.measure_tests()
        phases = self.round.phases
        if self.phase != phases[-1]:
            self.enter(self.round.kata, phases[phases.index(self.phase) + 1])
        elif self.report.position + 1 < len(self.report.rounds):
            coming = self.report.rounds[self.report.position + 1]
            self.enter(coming.kata, coming.phases[0])
        else:
            self.finish()

    def finish(self) -> None:
        self.add("end", how="finished")

    def measure_tests(self) -> None:
        """The last file of own tests, once the candidate has done with them. Raises: UsageError, GraderError."""
        if not self.runs or self.phase not in WRITING:
            return
        script = Path(self.runs[-1][0])
        try:
            with self.terminal.waiting("your tests meet known mistakes"), stoppable(self.judge):
                found = measure(self.judge.launcher, self.kata, script)
        except UsageError as error:  # it is gone by now, or cannot be run: the interview goes on
            self.say(f"your tests are not measured: {error}")
            self.note("tests", right=False, caught=0, known=0)
        else:
            self.say(found.in_words)
            self.note("tests", right=found.right, caught=found.caught, known=found.known)

    def enter(self, name: str, phase: str, quietly: bool = False) -> None:
        """Raises: UsageError."""
        self.refuse_another_terminal()  # before its file is written over
        with whole():
            if phase == "code":  # before it is told: else a cut in between would leave what stood there
                attempts.begin(self.state, self.katas[name], VIA, False, self.code_so_far, self.round.after)
            self.add("phase", kata=name, phase=phase)
        if not quietly:
            self.introduce()

    @property
    def code_so_far(self) -> str:
        """What the candidate wrote for the kata that the one at hand is a twist of."""
        before = self.katas.get(self.round.after)
        if before is None:
            return ""
        source = read_source(attempts.file_for(before, VIA), "")
        return "" if is_untouched(before, source.text) else source.text

    def introduce(self) -> None:
        """Where the interview stands, and what there is to do."""
        one, count = self.round, len(self.report.rounds)
        place = f"{self.report.position + 1} of {count}: " if count > 1 else ""
        about = f"({one.topic}, level {one.level}, about {one.minutes} minutes)"
        if self.phase != one.phases[0]:
            self.terminal.heading(f"{place}{one.kata}, {self.phase}")
        elif one.after:
            self.terminal.heading(f"{place}{one.after} turns into {one.kata} {about}")
            self.twist()
        else:
            self.terminal.heading(f"{place}{one.kata} {about}")
            self.put_task()
        asked = len(self.follow_ups[one.kata])
        words = {"file": attempts.shown(self.kata, VIA), "editor": self.terminal.editor}
        questions = f"{asked} question{'s' if asked > 1 else ''}"
        self.say(self.introductions[self.phase].format(**words, questions=questions))
        if self.phase == "code" and (begun := attempts.begun_with(self.kata, read_source(self.file, "").text)):
            self.say(f"{begun}.")
        elif self.phase == "code" and one.after and self.code_so_far:
            self.say(f"Your code for {one.after} stands above the new signature: call it, change it, or delete it.")

    def put_task(self) -> None:
        self.terminal.task(self.prompts[self.round.kata])

    def twist(self) -> None:
        """Says what changes, and what is to be written now."""
        one = self.round
        if said := self.twists.get(one.after):  # the page may have changed since
            self.terminal.markdown(said.words)
        self.say("\nThis is what to write now; `prompt` tells the task as a whole, and a line that ends in ? asks me.")
        self.terminal.markdown(f"```python\n{signatures(stub_for(self.kata))}\n```")
