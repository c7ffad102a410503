"""The interview itself: one kata after the other, its phases, and the questions at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import ClassVar

from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.catalogue.stub import is_untouched, signatures, stub_for
from graders.desk import attempts
from graders.desk.measured_tests import measure
from graders.desk.state import State
from graders.faults import UsageError
from graders.interview.prepared import Prepared
from graders.interview.record import InterviewReport
from graders.interview.round import DIAGNOSIS_COST, HINT_COSTS, LIST_COST, Round
from graders.judge.warm import WarmJudge
from graders.sitting.interrupts import stoppable, whole
from graders.sitting.pace import Pace, Word, usual
from graders.sitting.sitting import Sitting
from graders.sitting.terminal import Terminal

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


class Interview(Sitting[InterviewReport]):
    """One interview."""

    kind = noun = VIA
    introductions: ClassVar[Mapping[str, str]] = INTRODUCTIONS

    def __init__(
        self, state: State, katas: Sequence[Kata], report: InterviewReport, terminal: Terminal, judge: WarmJudge
    ) -> None:
        """Raises: UsageError where what should be asked cannot be read."""
        super().__init__(state, report, terminal, judge)
        self.pace = pace_of(report, self.clock)
        self.on_screen = ""  # the follow-up question that was shown last
        self.every = {kata.id: Prepared(kata, report.seed, report.coming(kata.id)) for kata in katas}

    @property
    def round(self) -> Round:
        return self.report.round

    @property
    def prepared(self) -> Prepared:
        """What there is about the kata at hand."""
        return self.every[self.round.kata]

    @property
    def kata(self) -> Kata:
        return self.prepared.kata

    @property
    def phase(self) -> str:
        return self.report.phase

    @property
    def at(self) -> str:
        return self.phase

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

    def measure_tests(self) -> None:
        """The last file of own tests, once the candidate has done with them. Raises: UsageError, GraderError."""
        if not self.round.runs or self.phase not in WRITING:
            return
        script = Path(self.round.runs[-1][0])
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
                attempts.begin(self.state, self.every[name].kata, VIA, False, self.code_so_far, self.round.after)
            self.add("phase", kata=name, phase=phase)
        if not quietly:
            self.introduce()

    @property
    def code_so_far(self) -> str:
        """What the candidate wrote for the kata that the one at hand is a twist of."""
        before = self.every.get(self.round.after)
        if before is None:
            return ""
        source = read_source(attempts.file_for(before.kata, VIA), "")
        return "" if is_untouched(before.kata, source.text) else source.text

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
        asked = len(self.prepared.asked)
        questions = f"{asked} question{'s' if asked > 1 else ''}"
        words = {"file": self.shown, "editor": self.terminal.editor, "questions": questions}
        self.say(self.introductions[self.phase].format(**words))
        if self.phase == "code" and (begun := attempts.begun_with(self.kata, read_source(self.file, "").text)):
            self.say(f"{begun}.")
        elif self.phase == "code" and one.after and self.code_so_far:
            self.say(f"Your code for {one.after} stands above the new signature: call it, change it, or delete it.")

    def put_task(self) -> None:
        self.terminal.task(self.prepared.prompt)

    def twist(self) -> None:
        """Says what changes, and what is to be written now."""
        if said := self.every[self.round.after].twist:  # the page may have changed since
            self.terminal.markdown(said.words)
        self.say("\nThis is what to write now; `prompt` tells the task as a whole, and a line that ends in ? asks me.")
        self.terminal.markdown(f"```python\n{signatures(stub_for(self.kata))}\n```")


def pace_of(report: InterviewReport, clock: Callable[[], float]) -> Pace:
    """What is said about the time without being asked: the usual, and when a kata has had its share."""
    whole, wanted = 60.0 * report.minutes, [one.minutes for one in report.rounds]
    words = usual(report.minutes)
    for number, minutes in enumerate(accumulate(wanted[:-1])):
        rest = len(wanted) - number - 1
        waits = "one more kata waits" if rest == 1 else f"{rest} more katas wait"
        text = f"{report.rounds[number].kata} has had its share of the time, and {waits}; `next` goes on."
        words.append(Word(whole * minutes / sum(wanted), text, number))
    return Pace(words, clock, lambda: report.position)
