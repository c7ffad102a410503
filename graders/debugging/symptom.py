"""A symptom round: bugs in several files of a program, a script to run, and katas that go on in the same files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.programs import Extension, Output, Part, Program
from graders.debugging.debugging import Debugging
from graders.debugging.grading import DebugReporter, ExtensionReporter, QuietReporter, judge
from graders.debugging.round import RULES, Round, joined
from graders.desk.debugged import EACH
from graders.faults import UsageError
from graders.judge import program_run
from graders.sitting.clock import in_words
from graders.sitting.interrupts import stoppable
from graders.worker.visible import WHOLE, visible

MOST_LINES = 400  # of a run, that are shown
WIDE, HIGH = 60, 9  # characters of a curve
INTRODUCTION = """{title}: {bugs} bugs are planted over {files}; a file may have none. {script}, the script that \
trains it, has none. All of them lie in {folder}; look for the bugs in {editor}.

`run` runs the script, and `run FILE` a file of your own in the same folder. `bug FILE LINE WHY` claims a bug, as in \
`bug {first} 12 why`. {rules}"""
NO_SYMPTOM = "No symptom is left: this run shows what a right one does."


class SymptomRound(Round):
    """A round over the files of a program."""

    taking = "hint, hints, diff and restore"

    def __init__(self, files: Sequence[Debugging], program: Program) -> None:
        super().__init__(files)
        self.program = program

    @property
    def does(self) -> dict[str, str]:
        judged = f"judge all files: how many bugs are gone, {EACH} points for each"
        if self.extension:
            judged = f"judge {self.extension.part}.py as the kata {self.extension.kata}, and run the script"
        return {"run": f"run {self.program.script}, or FILE beside it", "submit": judged}

    @property
    def beside(self) -> list[Kata]:
        """The script."""
        return [Part(self.first.kata.root, self.program.name, Path(self.program.script).stem)]

    @property
    def extension(self) -> Extension | None:
        """What is at hand of what the round goes on with, once its bugs are gone."""
        if not all(map(whole, self.files)):
            return None
        solved = {name for one in self.files for name in one.report.extended}
        return next((one for one in self.program.extensions if one.kata not in solved), None)

    @property
    def task(self) -> tuple[str, str]:
        going_on = self.extension
        return (going_on.kata, going_on.task) if going_on else ("Symptom", self.first.report.symptom)

    def introduce(self) -> None:
        self.terminal.heading(f"Symptom round: {self.program.name}")
        if self.extension:
            self.introduce_extension(self.extension)
            return
        self.say(
            INTRODUCTION.format(
                title=self.program.title[0].upper() + self.program.title[1:],
                bugs=self.count,
                files=joined([one.file.name for one in self.files]),
                script=self.program.script,
                folder=Path(self.first.shown).parent,
                editor=self.terminal.editor,
                first=self.names[0],
                rules=RULES,
            )
        )
        self.say()
        self.say("Symptom", style="bold")
        self.say(f"  {self.first.report.symptom}")

    def run(self, argument: str) -> None:
        """The script, or a file of the learner's own beside it. Raises: UsageError, Stopped."""
        folder, script = self.first.file.parent, self.program.script
        name = argument or script
        if Path(name).name != name or not (folder / name).is_file():
            raise UsageError(f"there is no file {name!r} in {Path(self.first.shown).parent}; `run` alone runs {script}")
        output = run_shown(self.first, name)
        ends = "ended" if not output.status else f"ended with exit status {output.status}"
        self.say(f"{name} {ends}")
        if name == script:
            show_curve(self.first, output)
            self.say(f"Symptom: {symptom}" if (symptom := self.program.symptom(output)) else NO_SYMPTOM)
        self.first.note("run", file=name, passed=not output.status)

    def submit(self, argument: str) -> None:
        """All files that are others than they were. Raises: UsageError, Stopped."""
        if argument:
            raise UsageError("`submit` judges all files of this round: type it alone")
        if self.extension:
            self.submit_extension(self.extension)
            return
        changed = False
        for one in self.files:
            if one.source() != one.report.known:
                submit_file(one)
                changed = True
        gone = sum(one.report.mended for one in self.files)
        if not all(map(whole, self.files)):
            are = "is" if gone == 1 else "are"
            self.say(f"{gone} of {self.count} planted bugs {are} gone" + "; nothing changed" * (not changed))
            return
        self.say(f"all planted bugs are gone, after {in_words(self.first.clock())}")
        if self.extension:
            self.say("\nThe round goes on in the same files; `end` ends it here.")
        self.go_on()

    def go_on(self) -> None:
        """To what is to be written next, or to the end. Raises: UsageError."""
        if self.extension:
            self.introduce_extension(self.extension)
        else:
            self.end()

    def introduce_extension(self, extension: Extension) -> None:
        every = self.program.extensions
        number = [one.kata for one in every].index(extension.kata) + 1
        self.terminal.heading(f"Next, {number} of {len(every)}: {extension.kata}")
        self.terminal.markdown(extension.task)
        self.say(
            f"Write it in {extension.part}.py; `submit` judges that as the kata {extension.kata}, and runs the script."
        )

    def submit_extension(self, extension: Extension) -> None:
        """It is solved once the kata's grader says so, and the script still shows no symptom."""
        one = next(one for one in self.files if one.kata.id == extension.part)
        kata = katas.find_one(extension.kata, one.kata.root)
        text = one.source()
        result = ExtensionReporter(one.terminal, one.judge).of(kata, one.file)
        solved = result.state == "solved"
        symptom = self.program.symptom(run_shown(one, self.program.script)) if solved else ""
        if symptom:
            self.say(f"The kata is solved, but the script shows: {symptom}")
            solved = False
        points = {"score": result.score, "max_score": result.max_score}
        one.note("extend", extension=extension.kata, solved=solved, source=text, **points)
        if solved:
            self.say(f"{extension.kata} is solved, after {in_words(one.clock())}")
            self.go_on()


def submit_file(one: Debugging) -> None:
    """Says what no planted bug explains. Raises: UsageError, Stopped."""
    judged = judge(one, QuietReporter(one.terminal, one.judge))
    if judged is None:
        one.say(f"{one.shown} does not count: there is nothing to judge in it")
    elif judged.left.new and judged.left.bugs:
        one.say(f"{one.shown}: something else fails, which no planted bug breaks: a change of yours breaks it")
    elif judged.left.new and judged.result:
        one.say(f"{one.shown}: something fails that no planted bug breaks:")
        DebugReporter(one.terminal, one.judge).show_failure(judged.result)


def whole(one: Debugging) -> bool:
    """Whether no bug is left in the file, and nothing else was found wrong with it."""
    return not one.report.left and one.report.verdict in ("", "solved")


def run_shown(debugging: Debugging, name: str) -> Output:
    """A run of a file beside the debugged one; its lines are shown as they come, with the seconds. Raises: Stopped."""
    begun, shown = time.monotonic(), 0

    def tell(line: str) -> None:
        nonlocal shown
        shown += 1
        if shown <= MOST_LINES:
            debugging.terminal.printed(f"{time.monotonic() - begun:6.1f}  {visible(line, WHOLE)}")
        elif shown == MOST_LINES + 1:
            debugging.say(f"        more than {MOST_LINES} lines: the rest is not shown")

    with stoppable(debugging.judge):
        return program_run.run(debugging.file.parent, name, tell, lambda: debugging.judge.interrupted)


def show_curve(debugging: Debugging, output: Output) -> None:
    for name in ("loss", "reward"):
        points = [point for point in output.curve(name) if abs(point[1]) < float("inf")]
        if len(points) > 1:
            debugging.terminal.printed(drawn(points, name))
            return


def drawn(points: Sequence[tuple[int, float]], name: str) -> str:
    """A curve in characters: between two points a straight line, from 0 or less up to the highest."""
    steps, values = zip(*points, strict=True)
    first, last, low, high = steps[0], steps[-1], min(0.0, *values), max(values)
    rows = [[" "] * WIDE for _ in range(HIGH)]
    for column, value in enumerate(np.interp(np.linspace(first, last, WIDE), steps, values)):
        height = round((value - low) / ((high - low) or 1) * (HIGH - 1))
        rows[HIGH - 1 - height][column] = "*"
    labels = {0: f"{high:.2f}", HIGH - 1: f"{low:.2f}"}
    lines = [f"{labels.get(place, ''):>8} |{''.join(row).rstrip()}" for place, row in enumerate(rows)]
    below = f"{'':8} +{'-' * WIDE}\n{'':9} {first:<8}{name + ' by step':^{WIDE - 16}}{last:>8}"
    return "\n".join([*lines, below])
