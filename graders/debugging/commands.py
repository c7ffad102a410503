"""What can be typed in a debug round, and the loop that does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.text import Text

from graders.debugging import claims, symptom
from graders.debugging.debugging import Debugging, lines_changed
from graders.debugging.grading import DebugReporter
from graders.debugging.round import Round, joined
from graders.desk import diff
from graders.desk.debugged import EACH, HINT_COSTS, PlantedBug
from graders.judge import listing
from graders.judge.results import Result
from graders.sitting import asking_back, running
from graders.sitting.commands import Command, Suspended, is_answer, nearest, obey, tell, unknown, until
from graders.sitting.interrupts import Stopped

REWRITTEN = 3  # times as many lines as are needed, from which on that is said


def run(played: Round) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    if played.program:
        symptom.introduce(played)
    else:
        played.introduce()
    if any(one.report.claims for one in played.files):
        played.files[0].say("Claimed so far:")
        show_claims(played, "")
    until(lambda: played.ended, lambda: step(played), lambda words: played.at_hand.say(words), lambda: None)


def step(played: Round) -> None:
    """One line on. Raises: UsageError, and what `run` raises."""
    try:
        obey(
            played, played.ask(), EVERY, EVERY, lambda words: played.at_hand.say(words), lambda line: hear(played, line)
        )
    except Stopped:
        for one in played.files:
            one.planting.close()  # its workers were ended as well; what is asked next starts others
        raise


def hear(played: Round, line: str) -> None:
    """A question that was asked back stays open until it is answered, or another claim is made."""
    debugging = played.at_hand
    if not is_answer(line):
        debugging.say(unknown(line.strip(), nearest(line, (one.name for one in EVERY))))
    elif not (asked := played.asked) or not asked.offer:
        debugging.say("there is no question open; `help` lists what you can type")
    elif asking_back.answered(asked.offer, line.strip().lower(), debugging.say):
        asked.offer = None


def claim(played: Round, argument: str) -> None:
    chosen, rest = played.named(argument)
    if len(chosen) > 1:
        played.at_hand.say(f"say in which file: `bug {' LINE WHY` or `bug '.join(played.names)} LINE WHY`")
    else:
        for one in played.files:
            one.offer = None
        claims.claim(chosen[0], rest)


def show_claims(played: Round, argument: str) -> None:
    files = played.only(argument)
    made = [one for one in files if one.report.claims]
    for one in made:
        played.heading(one)
        claims.show(one)
    if not made:
        played.at_hand.say("nothing is claimed yet")


def submit(played: Round, argument: str) -> None:
    """Each file that is named, but for those that nothing is left to be found in."""
    if played.program:
        symptom.submit(played, argument)
        return
    for one in played.only(argument):
        if one.solved and one.source() == one.report.source:
            one.say(f"{one.kata.id}: all of its planted bugs are gone")
        else:
            submit_file(one)
    if all(one.solved for one in played.files):
        played.end()


def submit_file(debugging: Debugging) -> None:
    text = debugging.source()
    report = debugging.report
    pasted = debugging.pasted(text)
    if pasted:
        left, state = [bug.name for bug in report.left], "pasted"
        debugging.say(pasted)
    else:
        result = DebugReporter(debugging.terminal, debugging.judge).of(debugging.kata, debugging.file)
        if result.state in ("error", "todo"):
            debugging.say("this does not count: there is nothing to judge in it")
            return
        state = result.reached
        left = what_is_left(debugging, text, result)
    changed = lines_changed(report.planted, text)
    debugging.note("submit", state=state, left=left, pasted=bool(pasted), changed=changed, source=text)
    if changed >= REWRITTEN * report.needed + REWRITTEN and not pasted:
        debugging.say(f"you changed {changed} lines; {report.needed} {'is' if report.needed == 1 else 'are'} needed")


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
            debugging.say("Something else fails, which no planted bug breaks: a change of yours breaks it.")
    else:
        are = "bugs are" if count > 1 else "bug is"
        debugging.say(f"The planted {are} gone, but something else fails, which no planted bug breaks:")
        DebugReporter(debugging.terminal, debugging.judge).show_failure(result)
    return sorted(left.bugs)


def hint(played: Round, argument: str) -> None:
    chosen = played.only(argument)
    left = [(one, bug) for one in chosen for bug in one.report.left if bug.hints < len(HINT_COSTS)]
    if not left:
        played.at_hand.say("there is no further hint; `hints` shows those so far again")
        return
    debugging, bug = left[0]
    question = f"{debugging.shown} has changed since it was judged, and this bug may be gone; show the hint?"
    if debugging.source() != debugging.report.known and not played.at_hand.confirm(question):
        return
    played.heading(debugging)
    debugging.note("hint", bug=bug.name, level=bug.hints + 1)
    show_hint(debugging, bug, bug.hints)


def show_hint(debugging: Debugging, bug: PlantedBug, level: int) -> None:
    title = f"Hint {level} of {len(HINT_COSTS)} at bug {debugging.report.bugs.index(bug) + 1}"
    debugging.terminal.say(f"{title} (-{HINT_COSTS[level - 1]} points)", style="bold")
    if level == 1 and bug.alone:
        debugging.say(f"a run with this bug alone shows: {bug.alone}")
    elif level == 1:
        call, code = listing.split(bug.call)
        short = code.count("\n") < listing.MOST_LINES  # else it stands in grader.py
        shown = bug.call if short else call  # none of a signature
        debugging.say(f"the bug makes this check fail: {bug.check}" + f":\n{shown}" * bool(shown))
    elif level == 2:
        debugging.say("the bug is in these lines of the file as it was written:")
        table = debugging.terminal.two_columns()
        for number, line in debugging.region(bug):
            table.add_row(str(number), Text(line, overflow="fold"))
        debugging.terminal.show(table)
    else:
        debugging.say(bug.sentence)


def show_hints(played: Round, argument: str) -> None:
    for one in played.only(argument):
        played.heading(one)
        taken = [(bug, level + 1) for bug in one.report.bugs for level in range(bug.hints)]
        for bug, level in taken:
            show_hint(one, bug, level)
        if not taken:
            one.say("no hint was shown yet")


def show_diff(played: Round, argument: str) -> None:
    for one in played.only(argument):
        played.heading(one)
        was, now = one.report.planted.splitlines(), one.source().splitlines()
        if was == now:
            one.say("nothing is changed yet")
        else:
            one.terminal.show(diff.drawn(was, now, ("as it was written", "as it is")))


def restore(played: Round, argument: str) -> None:
    chosen = played.only(argument)
    files = joined([one.shown for one in chosen])
    if played.at_hand.confirm(f"this puts the round's file with all its bugs into {files} again; do it?"):
        for one in chosen:
            one.restore()
            one.say(f"{one.shown} is as it was written")


def run_tests(played: Round, argument: str) -> None:
    """Of the file that is named, or whose name the tests' begins with; else of the one at hand."""
    if played.program:
        symptom.run(played, argument)
        return
    chosen, rest = played.named(argument)
    tested = [one for one in chosen if Path(rest).name.startswith(one.kata.id)]
    running.run(chosen[0] if len(chosen) == 1 else tested[0] if tested else played.at_hand, rest)


def tell_time(played: Round, argument: str) -> None:
    played.at_hand.tell_time()


def suspend(played: Round, argument: str) -> None:
    raise Suspended


def end(played: Round, argument: str) -> None:
    question = "this ends the round, with its report; only what was submitted counts as mended. End it?"
    if played.at_hand.confirm(question):
        played.end()


def tell_commands(played: Round, argument: str) -> None:
    here, more = [*EVERY], dict[str, str]()
    if len(played.files) > 1:
        taking = "hint, hints, diff and restore" if played.program else "submit, hint, hints, diff, restore and run"
        more = {"": f"{taking} also take a file: {', '.join(played.names)}"}
        here = [replace(one, usage="bug FILE LINE WHY") if one.name == "bug" else one for one in here]
    if played.program:
        script, each = played.program.script, f"{EACH} points for each"
        does = {
            "run": f"run {script}, or FILE beside it",
            "submit": f"judge all files: how many bugs are gone, {each}",
        }
        here = [replace(one, does=does.get(one.name, one.does)) for one in here]
    tell(played.at_hand.terminal, here, more)


COSTS = ", ".join(f"-{cost}" for cost in HINT_COSTS)
EVERY: tuple[Command[Round], ...] = (
    Command("help", "this list", (), tell_commands),
    Command(
        "bug LINE WHY",
        f"claim a bug before you mend it: {EACH} points for its line, {EACH} for the reason",
        (),
        claim,
        "words",
    ),
    Command("claims", "what you claimed so far, and how it was understood", (), show_claims, "word"),
    Command("submit", f"judge the file: how many bugs are gone, {EACH} points for each", (), submit, "word"),
    Command(
        "hint",
        f"at the first bug that is left: what fails, then five lines, then what is wrong; {COSTS} points",
        (),
        hint,
        "word",
    ),
    Command("hints", "show the hints so far again", (), show_hints, "word"),
    Command(
        "run FILE",
        "run tests of yours: FILE, else the file that you ran last, else KATA_test.py",
        (),
        run_tests,
        "word",
    ),
    Command("diff", "what you changed", (), show_diff, "word"),
    Command("restore", "bring back the file as it was at first, with its bugs", (), restore, "word"),
    Command("time", "how much time has passed, and how much is left", (), tell_time),
    Command("quit", "go on another time, with --resume; the clock runs on", (), suspend),
    Command("end", "end the round now, with its report", (), end),
)
