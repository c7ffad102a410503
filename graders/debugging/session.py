"""`debug`: bugs to find, explain and mend in a right answer; can be cut off anywhere and gone on with."""

from __future__ import annotations

import argparse
import contextlib
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

from graders.catalogue import katas
from graders.catalogue.bugs import Bug, bugs_of, planted, size
from graders.catalogue.katas import Kata
from graders.catalogue.programs import LEAST_BUGS, MOST_IN_A_PROGRAM, Output, Part, find_program
from graders.debugging import (
    MINUTES_EACH,
    MINUTES_FOR_EXTENSIONS,
    MOST_BUGS,
    USUAL_BUGS,
    card,
    commands,
    draw,
)
from graders.debugging.debugging import Debugging
from graders.debugging.round import Round
from graders.debugging.symptom import SymptomRound
from graders.desk import attempts
from graders.desk.debugged import KEY, DebugRound, begun, debug_rounds, practices, sealed, together
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.desk.status import end_of_day
from graders.faults import UsageError
from graders.files import make_room
from graders.judge import program_run
from graders.judge.planting import Planting
from graders.sitting.clock import for_an_event
from graders.sitting.commands import Command
from graders.sitting.interrupts import whole
from graders.sitting.session import Session
from graders.sitting.terminal import Terminal

SEEDS = 10_000
LONGEST = 24 * 60  # minutes


def eligible(options: argparse.Namespace, root: Path, state: State) -> list[Kata]:
    """What bugs may be planted in. Raises: UsageError."""
    found = katas.find(options.katas, root)
    chosen = [kata for kata in found if options.topic in (None, kata.topic)]
    chosen = [kata for kata in chosen if options.level in (None, kata.about.level)]
    if options.set:
        chosen = [kata for kata in chosen if kata.id in katas.sets(root)[options.set]]
    if not chosen:
        asked = [f"--{name} {value}" for name in ("topic", "level", "set") if (value := getattr(options, name))]
        raise UsageError(f"no kata fits {' and '.join([*options.katas, *asked])}: leave one of them out")
    there = [kata for kata in chosen if kata.reference_file.exists()]
    if not there:
        raise UsageError("bugs are planted in the references, and solutions/ is not here: restore it with git")
    if options.katas:
        return there
    progress = progress_of(state.events(), [kata.id for kata in there])
    suiting = draw.suiting(there, progress, practices(debug_rounds(state.events())), end_of_day(state.now()))
    return there if options.set and len(suiting) == 1 else suiting


def files_of(options: argparse.Namespace, chosen: Sequence[Kata], count: int) -> int:
    """In how many files the bugs are: in each that is named, of a known round in two, else in one; none without any."""
    named = len(chosen) if len(chosen) == len(options.katas) else 1
    return min(count, max(named, min(2, len(chosen)) if options.set else 1))


class DebugSession(Session[DebugRound]):
    """One time at the terminal: a round that begins, or goes on."""

    command, noun = KEY, "debug round"
    choices = (*Session.choices, "symptom")

    def __init__(self, *common: Any) -> None:
        super().__init__(*common)
        self.ending = contextlib.ExitStack()  # what it opens is closed there
        self.round: Round | None = None

    @classmethod
    def past(cls, state: State) -> list[DebugRound]:
        return debug_rounds(state.events())

    @classmethod
    def check(cls, options: argparse.Namespace, state: State) -> DebugRound | None:
        going_on = super().check(options, state)
        if options.resume and options.katas:
            raise UsageError("--resume goes on with what was drawn; name no kata")
        if options.symptom:
            others = {name: getattr(options, name) for name in ("topic", "level", "set", "slow")}
            asked = [f"--{name}" for name, value in others.items() if value] + options.katas
            if asked:
                raise UsageError(f"--symptom plants bugs in a program of its own: leave out {' and '.join(asked)}")
            if options.bugs is not None and options.bugs < LEAST_BUGS:
                raise UsageError(f"a symptom round has {LEAST_BUGS} bugs or more")
        elif options.bugs is not None and options.bugs > MOST_BUGS:
            raise UsageError(f"a round has at most {MOST_BUGS} bugs, and a symptom round {MOST_IN_A_PROGRAM}")
        if options.minutes is not None and not 1 <= options.minutes <= LONGEST:
            raise UsageError(f"--minutes should be from 1 to {LONGEST}, got {options.minutes}")
        return going_on

    @classmethod
    def report(cls, terminal: Terminal, root: Path, state: State, number: int) -> None:
        past = cls.past(state)
        report, number = cls.numbered(past, number)
        known = together(past, report)
        for one in known:
            card.show(terminal, one, past.index(one) + 1, practices(past).get(one.kata), state.now())
        card.show_ways(terminal, known, number)

    @property
    def commands(self) -> list[Command[Any]]:
        return [*commands.EVERY] if self.round else []

    @property
    def written(self) -> list[Debugging]:
        return self.round.files if self.round else []

    @property
    def task(self) -> tuple[str, str]:
        return self.round.task if self.round else ("", "")

    @property
    def beside(self) -> list[tuple[Kata, str]]:
        return [(one, KEY) for one in self.round.beside] if self.round else []

    def hold(self, going_on: DebugRound | None) -> None:
        with alone(self.root), self.ending:
            open_ones = together(self.past(self.state), going_on) if going_on else []
            files = self.resume(open_ones) if self.options.resume else self.begin(open_ones)
            program = files[0].report.program
            self.round = SymptomRound(files, find_program(program, self.root)) if program else Round(files)
            commands.run(self.round)
            self.report(self.terminal, self.root, self.state, 0)

    def plant(self, kata: Kata) -> Planting:
        return self.ending.enter_context(contextlib.closing(Planting(kata, self.judge.launcher)))

    def begin(self, given_up: Sequence[DebugRound]) -> list[Debugging]:
        """Raises: UsageError."""
        seed = random.SystemRandom().randrange(SEEDS) if self.options.seed is None else self.options.seed
        with self.terminal.waiting("planting bugs") as tell:
            drawn, common = self.drawn_program(seed, tell) if self.options.symptom else self.drawn_katas(seed)
            common |= {"seed": seed, "slow": self.options.slow}
            common |= {"joint": uuid.uuid4().hex} if len(drawn) > 1 else {}
            bodies = [begin_body(one) | common for one in drawn]
        texts = {
            attempts.file_for(one.planting.kata, KEY): body["planted"] for one, body in zip(drawn, bodies, strict=True)
        }
        if self.options.symptom:
            program = find_program(self.options.symptom, self.root)
            texts[next(iter(texts)).with_name(program.script)] = program.script_text
        for file in texts:  # all or none: else a round would be given up for one that does not begin
            make_room(file, "mend that, then try again")
        made = []
        with whole():
            # before it is told: else a cut would leave what stood there
            for file, text in texts.items():
                attempts.write(file, text)
            for old in given_up:
                if not old.ended:
                    self.give_up(old)
            for one, body in zip(drawn, bodies, strict=True):
                made.append(self.sat(begun(self.state.add(KEY, "", body | for_an_event())), one))
        kind = "symptom" if self.options.symptom else "debug"
        self.terminal.say(f"A {kind} round of {made[0].report.length}; the clock runs on while you are away.")
        return made

    def drawn_katas(self, seed: int) -> tuple[list[draw.Drawn], dict[str, Any]]:
        """What is planted in katas, and the round's minutes. Raises: UsageError."""
        chosen = eligible(self.options, self.root, self.state)
        if not self.options.bugs and len(chosen) == len(self.options.katas) > MOST_BUGS:
            raise UsageError(f"a round has at most {MOST_BUGS} bugs: name at most as many katas, or give --bugs N")
        usual = 1 if self.options.slow else USUAL_BUGS
        count = self.options.bugs or min(max(usual, files_of(self.options, chosen, MOST_BUGS)), MOST_BUGS)
        files = files_of(self.options, chosen, count)
        drawn = draw.draw_several(chosen, files, count, seed, self.options.slow, self.plant)
        return drawn, {"minutes": self.options.minutes or MINUTES_EACH * count}

    def drawn_program(self, seed: int, tell: Callable[[str], None]) -> tuple[list[draw.Drawn], dict[str, Any]]:
        """What is planted in a program, its symptom and the round's minutes. Raises: UsageError."""
        program, count = find_program(self.options.symptom, self.root), self.options.bugs
        if count is not None and not LEAST_BUGS <= count <= program.most:
            raise UsageError(f"a symptom round of {program.name} has from {LEAST_BUGS} to {program.most} bugs")

        def run(bugs: Mapping[str, Sequence[Bug]]) -> Output:
            return program_run.run_texts(program_run.with_bugs(program, bugs), program.script)

        drawn, symptom = draw.draw_program(program, count, seed, self.plant, run, tell)
        usual = MINUTES_EACH * sum(len(one.bugs) for one in drawn) + MINUTES_FOR_EXTENSIONS * bool(program.extensions)
        return drawn, {"minutes": self.options.minutes or usual, "program": program.name, "symptom": symptom}

    def resume(self, reports: Sequence[DebugRound]) -> list[Debugging]:
        """Raises: UsageError."""
        made = [self.resume_file(one) for one in reports]
        for one in made:
            one.resume()
        self.terminal.say(f"Your debug round of {reports[0].began} goes on: {made[0].left()}.")
        return made

    def resume_file(self, report: DebugRound) -> Debugging:
        """Raises: UsageError."""
        if report.program:
            kata: Kata = Part(self.root, find_program(report.program, self.root).name, report.kata)
        else:
            kata = katas.find_one(report.kata, self.root)
        known = {bug.name: bug for bug in bugs_of(kata, report.slow)}
        bugs = [known[bug.name] for bug in report.bugs if bug.name in known]
        planting = self.plant(kata)
        if (planting.right, planted(planting.right, bugs)) != (report.right, report.planted):
            raise UsageError(f"{kata.id} has changed since that round began: begin another, nox -s debug -- --new")
        return self.sat(report, draw.Drawn(planting, bugs))

    def sat(self, report: DebugRound, drawn: draw.Drawn) -> Debugging:
        self.sitting = made = Debugging(self.state, report, drawn.bugs, drawn.planting, self.terminal, self.judge)
        return made


main = DebugSession.main


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """While this goes on, no other terminal or page can drive a debug round; a kill ends that as well.

    Raises: UsageError where another one does.
    """
    file = root / ".kata" / KEY / ".lock"
    make_room(file, "mend that, then try again")
    with file.open("a", encoding="utf-8") as lock:
        try:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                "a debug round is open in another terminal or page: go on there, or type `quit` there first"
            ) from None
        yield


def begin_body(drawn: draw.Drawn) -> dict[str, Any]:
    """What a file's first event says of it alone."""
    kata = drawn.planting.kata
    return {
        KEY: uuid.uuid4().hex,
        "what": "begin",
        "elapsed": 0.0,
        "kata": kata.id,
        "topic": kata.topic,
        "level": kata.about.level,
        "planted": planted(drawn.planting.right, drawn.bugs),
        "needed": sum(size(bug.changes) for bug in drawn.bugs),
        "sealed": sealed({"right": drawn.planting.right, "bugs": draw.described(drawn)}),
    }
