"""`interview`: a timed mock interview in the terminal, which can be cut off anywhere and gone on with."""

from __future__ import annotations

import argparse
import contextlib
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graders import files
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.faults import GraderError, UsageError
from graders.interview import card, commands, draw, record
from graders.interview.interview import VIA, Interview
from graders.interview.partner import talk
from graders.interview.partner.talk import PartnerInterview
from graders.interview.record import InterviewReport
from graders.sitting.clock import for_an_event
from graders.sitting.commands import Command
from graders.sitting.interrupts import whole
from graders.sitting.session import Session
from graders.sitting.terminal import Terminal

LEAST_MINUTES = 5
NOT_YET = ("", "clarify", "plan")  # phases, in which nothing is written


class InterviewSession(Session[InterviewReport]):
    """One time at the terminal: an interview that begins, or goes on."""

    command = noun = VIA
    choices = (*Session.choices, "katas")
    sitting: Interview | None

    @classmethod
    def past(cls, state: State) -> list[InterviewReport]:
        return record.reports(state.events())

    @classmethod
    def check(cls, options: argparse.Namespace, state: State) -> InterviewReport | None:
        going_on = super().check(options, state)
        if not options.resume and options.minutes < LEAST_MINUTES:
            raise UsageError(f"--minutes should be at least {LEAST_MINUTES}, got {options.minutes}")
        return going_on

    @classmethod
    def report(cls, terminal: Terminal, root: Path, state: State, number: int) -> None:
        past = cls.past(state)
        report, number = cls.numbered(past, number)
        card.show(terminal, past, number, state.now())
        if report.ended:
            write_debrief(terminal, root, report, number)

    @property
    def commands(self) -> list[Command[Any]]:
        return commands.here(self.sitting) if self.sitting else []

    @property
    def steps(self) -> tuple[str, ...]:
        return self.sitting.round.phases if self.sitting else ()

    @property
    def task(self) -> tuple[str, str]:
        if not self.sitting or not self.sitting.phase:
            return "", ""
        kata = self.sitting.kata
        return f"{kata.about.title}, about {self.sitting.round.minutes} minutes", self.sitting.prepared.prompt

    @property
    def written(self) -> list[Interview]:
        return [self.sitting] if self.sitting and self.sitting.phase not in NOT_YET else []

    def hold(self, going_on: InterviewReport | None) -> None:
        attempts.bring_all_home(self.state, katas.all_katas(self.root))
        interview = self.resume(going_on) if going_on and self.options.resume else self.begin(going_on)
        commands.run(interview)
        self.report(self.terminal, self.root, self.state, 0)

    def begin(self, given_up: InterviewReport | None) -> Interview:
        """Raises: UsageError."""
        chosen = self.eligible()
        seed, minutes, count = self.options.seed, self.options.minutes, self.options.katas
        twists = {} if self.options.partner else twists_of(chosen)  # people talk about them
        if seed is None:
            found = progress_of(self.state.events(), [kata.id for kata in chosen])
            seed = draw.suiting_seed(chosen, minutes, found, self.state.now(), random.SystemRandom(), twists, count)
        parts = draw.draw(chosen, minutes, seed, twists, count)
        drawn = [part.kata for part in parts]
        for kata in drawn:
            texts.check(kata)
        if self.options.partner:
            talk.hand_over(self.terminal, drawn, minutes, seed, self.root / self.options.partner)
        with whole():
            if given_up:
                self.give_up(given_up)
            event = self.state.add("interview", "", begin_body(parts, minutes, seed, bool(self.options.partner)))
            report = record.begun(event)
            made = self.interview(drawn, report)
        self.welcome(report)
        return made

    def eligible(self) -> list[Kata]:
        """What can be asked about, of the topic, the set and the level that were asked for. Raises: UsageError."""
        topic, level = self.options.topic, self.options.level
        found = [kata for kata in katas.all_katas(self.root) if texts.interview_file(kata).exists()]
        found = [kata for kata in found if topic in (None, kata.topic)]
        if self.options.set:
            chosen = katas.sets(self.root)[self.options.set]
            found = [kata for kata in found if kata.id in chosen]
        levels = sorted({kata.about.level for kata in found})
        if not found and self.options.set and topic:
            raise UsageError(f"the set {self.options.set} has no kata of topic {topic}; drop --set or --topic")
        if not found:
            of_set = f" of the set {self.options.set}" if self.options.set else ""
            raise UsageError(f"no kata{of_set} has an interview.md here; restore these files with git")
        if level is not None and level not in levels:
            where = "" if topic is None else f" in topic {topic}"
            where += f" in the set {self.options.set}" if self.options.set else ""
            raise UsageError(f"there is no kata of level {level}{where}; there are: {', '.join(map(str, levels))}")
        return [kata for kata in found if level in (None, kata.about.level)]

    def interview(self, drawn: Sequence[Kata], report: InterviewReport) -> Interview:
        """Raises: UsageError."""
        kind = PartnerInterview if report.partner else Interview
        self.sitting = made = kind(self.state, drawn, report, self.terminal, self.judge)
        return made

    def welcome(self, report: InterviewReport) -> None:
        count = len(report.rounds)
        grows = ", one of which goes on from another" if any(one.after for one in report.rounds) else ""
        editor = self.terminal.editor.capitalize()
        drawn = "one kata, with" if count == 1 else f"{count} katas{grows}, each with"
        self.terminal.say(
            f"A mock interview of {report.minutes} minutes: {drawn} questions at its end. {editor}, no books. "
            "`help` lists what you can type, `quit` suspends it; the clock runs on."
        )
        self.terminal.say(f"seed {report.seed} (--seed {report.seed} draws the same katas again)")

    def resume(self, report: InterviewReport) -> Interview:
        """Raises: UsageError."""
        drawn = katas.find([one.kata for one in report.rounds], self.root)
        if self.options.partner and not report.partner:
            raise UsageError("that interview began without a partner; drop --partner")
        made = self.interview(drawn, report)
        if self.options.partner:
            talk.hand_over(self.terminal, drawn, report.minutes, report.seed, self.root / self.options.partner)
        made.resume()
        self.terminal.say(f"Your interview of {report.began} goes on: {made.left()}.")
        return made


main = InterviewSession.main


def twists_of(chosen: Sequence[Kata]) -> dict[str, str]:
    """The kata that each turns into, where it does."""
    found = {}
    for kata in chosen:
        with contextlib.suppress(UsageError):  # if it is drawn, what is wrong with its page is said
            if twist := texts.twist(kata):
                found[kata.id] = twist.kata
    return found


def begin_body(parts: Sequence[draw.Part], minutes: int, seed: int, partner: bool = False) -> dict[str, Any]:
    """What an interview's first event says."""
    chosen = [
        {"kata": kata.id, "topic": kata.topic, "level": kata.about.level, "minutes": share, "after": after}
        for kata, share, after in parts
    ]
    body = {"interview": uuid.uuid4().hex, "what": "begin", "elapsed": 0.0, "minutes": minutes, "seed": seed}
    return body | {"katas": chosen} | for_an_event() | ({"partner": True} if partner else {})


def debrief_file(root: Path, number: int) -> Path:
    return root / ".kata" / "interview" / f"report-{number}.md"


def write_debrief(terminal: Terminal, root: Path, report: InterviewReport, number: int) -> None:
    """Raises: UsageError where it cannot be written."""
    from graders.interview.debrief import debrief  # it imports scikit-learn, which takes a second

    there = {kata.id: kata for kata in katas.all_katas(root)}
    try:
        text = debrief(report, number, there)
    except (UsageError, GraderError) as error:  # the solutions were removed since, or a grader is broken
        terminal.say(f"there is no debrief: {error}")
        return
    file = debrief_file(root, number)
    files.make_room(file, "mend that, then try again")
    files.replace_file(file, text)
    terminal.say(f"what you said, what could be said, and what to read again:  {file.relative_to(root)}")
