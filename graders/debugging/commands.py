"""What can be typed in a debug round, and the loop that does it."""

from __future__ import annotations

from rich.text import Text

from graders.debugging import claims
from graders.debugging.debugging import Debugging, lines_changed
from graders.debugging.grading import DebugReporter
from graders.desk import diff
from graders.desk.debugged import EACH, HINT_COSTS, PlantedBug
from graders.faults import UsageError
from graders.judge.results import Result
from graders.sitting import asking_back, running
from graders.sitting.commands import Command, Suspended, is_answer, nearest, unknown
from graders.sitting.interrupts import Stopped

REWRITTEN = 3  # times as many lines as are needed, from which on that is said


def run(debugging: Debugging) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    debugging.introduce()
    while not debugging.report.ended:
        try:
            obey(debugging, debugging.ask())
        except Stopped as stopped:
            debugging.planting.close()  # its workers were ended as well; what is asked next starts others
            debugging.say(str(stopped))
        except UsageError as error:
            debugging.say(f"error: {error}")


def obey(debugging: Debugging, line: str) -> None:
    word, _, rest = line.strip().partition(" ")
    command = COMMANDS.get(word.lower())
    if not is_answer(line):
        debugging.offer = None
    if not line.strip():
        return
    if command and command.fits(rest.strip()):
        command.act(debugging, rest.strip())
    elif not is_answer(line):
        debugging.say(unknown(line.strip(), nearest(line, COMMANDS)))
    elif not debugging.offer:
        debugging.say("there was no question to say that to; `help` lists what you can type")
    elif asking_back.answered(debugging.offer, line.strip().lower(), debugging.say):
        debugging.offer = None


def submit(debugging: Debugging, argument: str) -> None:
    text = debugging.source()
    report = debugging.report
    pasted = debugging.is_pasted(text)
    if pasted:
        left, state = [bug.name for bug in report.left], "pasted"
        debugging.say(
            "That is the reference from solutions/, which finds no bug: it counts for nothing. `restore` brings the "
            "round's file back."
        )
    else:
        result = DebugReporter(debugging.terminal, debugging.judge).of(debugging.kata, debugging.file)
        if result.state in ("error", "todo"):
            debugging.say("this does not count: there is nothing to judge in it")
            return
        state = result.reached
        left = what_is_left(debugging, text, result)
    changed = lines_changed(report.planted, text)
    debugging.note("submit", state=state, left=left, pasted=pasted, changed=changed, source=text)
    if changed >= REWRITTEN * report.needed + REWRITTEN and not pasted:
        debugging.say(f"you changed {changed} lines; {report.needed} {'is' if report.needed == 1 else 'are'} needed")
    if state == "solved":
        debugging.end()


def what_is_left(debugging: Debugging, text: str, result: Result) -> list[str]:
    """The bugs that are not gone, by their names; says how many are, and of something new that there is."""
    count = len(debugging.bugs)
    if result.state == "solved":
        debugging.say("all planted bugs are gone" if count > 1 else "the planted bug is gone")
        return []
    left = debugging.bugs_left(text)
    gone = count - len(left.bugs)
    if left.bugs:
        are = "is" if gone == 1 else "are"
        debugging.say(f"{gone} of {count} planted bugs {are} gone" if count > 1 else "the planted bug is not gone yet")
        if left.new:
            debugging.say("Something else fails as well, which no planted bug does: it came with a change of yours.")
    else:
        debugging.say("The planted bugs are gone, but something fails that none of them does, so it is new:")
        DebugReporter(debugging.terminal, debugging.judge).show_failure(result)
    return sorted(left.bugs)


def hint(debugging: Debugging, argument: str) -> None:
    bug = next((bug for bug in debugging.report.left if bug.hints < len(HINT_COSTS)), None)
    if bug is None:
        debugging.say("there is no further hint: all that is left was told; `hints` shows them again")
        return
    debugging.note("hint", bug=bug.name, level=bug.hints + 1)
    show_hint(debugging, bug, bug.hints)


def show_hint(debugging: Debugging, bug: PlantedBug, level: int) -> None:
    title = f"Hint {level} of {len(HINT_COSTS)} at bug {debugging.report.bugs.index(bug) + 1}"
    debugging.terminal.say(f"{title} (-{HINT_COSTS[level - 1]} points)", style="bold")
    if level == 1:
        debugging.say(f"it fails {bug.check}:\n{bug.call}")
    elif level == 2:
        debugging.say("it is in these lines of the file as it was written:")
        table = debugging.terminal.two_columns()
        for number, line in debugging.region(bug):
            table.add_row(str(number), Text(line, overflow="fold"))
        debugging.terminal.show(table)
    else:
        debugging.say(bug.sentence)


def show_hints(debugging: Debugging, argument: str) -> None:
    taken = [(bug, level + 1) for bug in debugging.report.bugs for level in range(bug.hints)]
    for bug, level in taken:
        show_hint(debugging, bug, level)
    if not taken:
        debugging.say("no hint was shown yet")


def show_diff(debugging: Debugging, argument: str) -> None:
    one, other = debugging.report.planted.splitlines(), debugging.source().splitlines()
    if one == other:
        debugging.say("nothing is changed yet")
    else:
        debugging.terminal.show(diff.drawn(one, other, ("as it was written", "as it is")))


def restore(debugging: Debugging, argument: str) -> None:
    if debugging.confirm(f"this puts the round's file with all its bugs into {debugging.shown} again; do it?"):
        debugging.restore()
        debugging.say(f"{debugging.shown} is as it was written")


def tell_time(debugging: Debugging, argument: str) -> None:
    debugging.tell_time()


def suspend(debugging: Debugging, argument: str) -> None:
    raise Suspended


def end(debugging: Debugging, argument: str) -> None:
    if debugging.confirm("this ends the round, with its report; only what was submitted counts as mended. End it?"):
        debugging.end()


def tell_commands(debugging: Debugging, argument: str) -> None:
    table = debugging.terminal.two_columns()
    for command in EVERY:
        table.add_row(command.usage, Text(command.does))
    debugging.terminal.show(table)


COSTS = ", ".join(f"-{cost}" for cost in HINT_COSTS)
EVERY: tuple[Command[Debugging], ...] = (
    Command("help", "this list", (), tell_commands),
    Command(
        "bug LINE WHY",
        f"claim a bug that is not gone yet: {EACH} points for its line, {EACH} for why it is wrong",
        (),
        claims.claim,
        "words",
    ),
    Command("submit", f"judge the file: how many bugs are gone, {EACH} points for each", (), submit),
    Command(
        "hint",
        f"at the first bug that is left: what fails, then five lines, then what is wrong; {COSTS} points",
        (),
        hint,
    ),
    Command("hints", "those that were shown, again", (), show_hints),
    Command("run FILE", "run tests of yours; by default KATA_test.py, then the last", (), running.run, "word"),
    Command("diff", "what you changed", (), show_diff),
    Command("restore", "the file with its bugs again", (), restore),
    Command("time", "how much has passed, and is left", (), tell_time),
    Command("quit", "go on another time, with --resume; the clock runs on", (), suspend),
    Command("end", "end the round now, with its report", (), end),
)
COMMANDS = {command.name: command for command in EVERY}
