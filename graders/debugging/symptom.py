"""A symptom round: bugs in several files of a program, a script to run, and katas that go on in the same files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graders.catalogue import katas
from graders.catalogue.programs import Extension, Output
from graders.debugging.debugging import Debugging, lines_changed
from graders.debugging.grading import DebugReporter, ExtensionReporter, QuietReporter
from graders.faults import UsageError
from graders.judge import program_run
from graders.judge.planting import Left
from graders.judge.results import Result
from graders.sitting.clock import in_words
from graders.sitting.interrupts import stoppable
from graders.worker.visible import WHOLE, visible

if TYPE_CHECKING:
    from graders.debugging.round import Round

MOST_LINES = 400  # of a run, that are shown
WIDE, HIGH = 60, 9  # characters of a curve
INTRODUCTION = """{title}: {bugs} bugs are planted over {files}; a file may have none. {script}, the script that \
trains it, has none. All of them lie in {folder}; look for the bugs in {editor}.

`run` runs the script, and `run FILE` a file of your own in the same folder. `bug FILE LINE WHY` claims a bug, as in \
`bug {first} 12 why`. {rules}"""
NO_SYMPTOM = "No symptom is left: this run shows what a right one does."


def introduce(played: Round) -> None:
    program, first = played.program, played.files[0]
    assert program
    first.terminal.heading(f"Symptom round: {program.name}")
    if played.extension:
        introduce_extension(played, played.extension)
        return
    first.say(
        INTRODUCTION.format(
            title=program.title[0].upper() + program.title[1:],
            bugs=sum(len(one.report.bugs) for one in played.files),
            files=played.in_words,
            script=program.script,
            folder=Path(first.shown).parent,
            editor=first.terminal.editor,
            first=played.names[0],
            rules=first.rules,
        )
    )
    first.say()
    first.terminal.say("Symptom", style="bold")
    first.say(f"  {first.report.symptom}")


def run(played: Round, argument: str) -> None:
    """The script, or a file of the learner's own beside it. Raises: UsageError, Stopped."""
    program, first = played.program, played.files[0]
    assert program
    folder, name = first.file.parent, argument or program.script
    if Path(name).name != name or not (folder / name).is_file():
        raise UsageError(f"there is no file {name!r} in {Path(first.shown).parent}; `run` alone runs {program.script}")
    output = run_shown(first, folder, name)
    ends = "ended" if not output.status else f"ended with exit status {output.status}"
    first.say(f"{name} {ends}")
    if name == program.script:
        show_curve(first, output)
        first.say(f"Symptom: {symptom}" if (symptom := program.symptom(output)) else NO_SYMPTOM)
    first.note("run", file=name, passed=not output.status)


def run_shown(debugging: Debugging, folder: Path, name: str) -> Output:
    """Its lines are shown as they come, with the seconds that have passed. Raises: Stopped."""
    begun, shown = time.monotonic(), 0

    def tell(line: str) -> None:
        nonlocal shown
        shown += 1
        if shown <= MOST_LINES:
            debugging.terminal.printed(f"{time.monotonic() - begun:6.1f}  {visible(line, WHOLE)}")
        elif shown == MOST_LINES + 1:
            debugging.say(f"        more than {MOST_LINES} lines: the rest is not shown")

    with stoppable(debugging.judge):
        return program_run.run(folder, name, tell, lambda: debugging.judge.interrupted)


def show_curve(debugging: Debugging, output: Output) -> None:
    for name in ("loss", "reward"):
        points = [point for point in output.curve(name) if abs(point[1]) < float("inf")]
        if len(points) > 1:
            debugging.terminal.printed(drawn(points, name))
            return


def drawn(points: Sequence[tuple[int, float]], name: str) -> str:
    """A curve in characters: between two points a straight line, from 0 or less up to the highest."""
    (first, _), (last, _) = points[0], points[-1]
    low, high = min(0.0, *(value for _, value in points)), max(value for _, value in points)
    rows = [[" "] * WIDE for _ in range(HIGH)]
    for column in range(WIDE):
        at = first + (last - first) * column / (WIDE - 1)
        after = next((place for place, (step, _) in enumerate(points) if step >= at), len(points) - 1)
        (x0, y0), (x1, y1) = points[max(after - 1, 0)], points[after]
        value = y1 if x1 == x0 else y0 + (y1 - y0) * (at - x0) / (x1 - x0)
        height = round((value - low) / ((high - low) or 1) * (HIGH - 1))
        rows[HIGH - 1 - height][column] = "*"
    labels = {0: f"{high:.2f}", HIGH - 1: f"{low:.2f}"}
    lines = [f"{labels.get(place, ''):>8} |{''.join(row).rstrip()}" for place, row in enumerate(rows)]
    below = f"{'':8} +{'-' * WIDE}\n{'':9} {first:<8}{name + ' by step':^{WIDE - 16}}{last:>8}"
    return "\n".join([*lines, below])


def submit(played: Round, argument: str) -> None:
    """All files that are others than they were. Raises: UsageError, Stopped."""
    if argument:
        raise UsageError("`submit` judges all files of this round: type it alone")
    first = played.files[0]
    if played.extension:
        submit_extension(played, played.extension)
        return
    said = [one for one in played.files if judged(one)]
    count = sum(len(one.report.bugs) for one in played.files)
    gone = sum(one.report.mended for one in played.files)
    if gone < count or not all(map(whole, played.files)):
        first.say(
            f"{gone} of {count} planted bugs {'is' if gone == 1 else 'are'} gone" + "; nothing changed" * (not said)
        )
        return
    first.say(f"all planted bugs are gone, after {in_words(first.clock())}")
    if played.extension:
        first.say("\nThe round goes on in the same files; `end` ends it here.")
        introduce_extension(played, played.extension)
    else:
        played.end()


def whole(one: Debugging) -> bool:
    """Whether no bug is left in the file, and nothing else was found wrong with it."""
    return not one.report.left and (not one.report.submits or one.solved)


def judged(one: Debugging) -> bool:
    """Whether there was anything to judge; notes what came of it, and says what no planted bug explains."""
    text = one.source()
    if text == one.report.known:
        return False
    if pasted := one.pasted(text):
        one.say(pasted)
        one.note("submit", state="pasted", left=[bug.name for bug in one.report.left], pasted=True, **kept(one, text))
        return True
    result = QuietReporter(one.terminal, one.judge).of(one.kata, one.file)
    if result.state in ("error", "todo"):
        one.say(f"{one.shown} does not count: there is nothing to judge in it")
        return True
    left = left_in(one, text, result)
    one.note("submit", state=result.reached, left=sorted(left.bugs), pasted=False, **kept(one, text))
    if left.new and left.bugs:
        one.say(f"{one.shown}: something else fails, which no planted bug breaks: a change of yours breaks it")
    elif left.new:
        one.say(f"{one.shown}: something fails that no planted bug breaks:")
        DebugReporter(one.terminal, one.judge).show_failure(result)
    return True


def left_in(one: Debugging, text: str, result: Result) -> Left:
    if result.state == "solved":
        return Left(frozenset(), new=False)
    found = one.bugs_left(text) if one.bugs else Left(frozenset(), new=True)
    return found if found.bugs else Left(frozenset(), new=True)


def kept(one: Debugging, text: str) -> dict[str, object]:
    return {"changed": lines_changed(one.report.planted, text), "source": text}


def introduce_extension(played: Round, extension: Extension) -> None:
    program, first = played.program, played.files[0]
    assert program
    number = [one.kata for one in program.extensions].index(extension.kata) + 1
    first.terminal.heading(f"Next, {number} of {len(program.extensions)}: {extension.kata}")
    first.terminal.markdown(extension.task)
    first.say(
        f"Write it in {extension.part}.py; `submit` judges that as the kata {extension.kata}, and runs the script."
    )


def submit_extension(played: Round, extension: Extension) -> None:
    """It is solved once the kata's grader says so, and the script still shows no symptom."""
    program = played.program
    assert program
    one = next(one for one in played.files if one.kata.id == extension.part)
    kata = katas.find_one(extension.kata, one.kata.root)
    text = one.source()
    result = ExtensionReporter(one.terminal, one.judge).of(kata, one.file)
    solved = result.state == "solved"
    if solved:
        output = run_shown(one, one.file.parent, program.script)
        symptom = program.symptom(output)
        solved = not symptom
        if symptom:
            one.say(f"The kata is solved, but the script shows: {symptom}")
    points = {"score": result.score, "max_score": result.max_score}
    one.note("extend", extension=extension.kata, solved=solved, source=text, **points)
    if not solved:
        return
    one.say(f"{extension.kata} is solved, after {in_words(one.clock())}")
    if played.extension:
        introduce_extension(played, played.extension)
    else:
        played.end()
