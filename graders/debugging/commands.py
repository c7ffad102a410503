"""What can be typed in a debug round, and the loop that does it."""

from __future__ import annotations

from dataclasses import replace

from graders.debugging import claims
from graders.debugging.debugging import Debugging
from graders.debugging.round import Round, joined
from graders.desk import attempts, diff
from graders.desk.debugged import EACH, HINT_COSTS, PlantedBug
from graders.judge import listing
from graders.sitting import asking_back, running
from graders.sitting.commands import QUIT, TIME, Command, is_answer, nearest, obey, tell, unknown, until
from graders.sitting.interrupts import Stopped


def run(played: Round) -> None:
    """Until it is over. Raises: Suspended, EOFError, KeyboardInterrupt."""
    played.introduce()
    if any(one.report.claims for one in played.files):
        played.say("Claimed so far:")
        show_claims(played, "")
    until(lambda: played.ended, lambda: step(played), played.say)


def step(played: Round) -> None:
    """One line on. Raises: UsageError, and what `run` raises."""
    line = played.ask()
    try:
        if not obey(played, line, EVERY, EVERY, played.say):
            hear(played, line)
    except Stopped:
        for one in played.files:
            one.planting.close()  # its workers were ended as well; what is asked next starts others
        raise


def hear(played: Round, line: str) -> None:
    """A question that was asked back stays open until it is answered, or another claim is made."""
    asked = played.asked
    if not is_answer(line):
        played.say(unknown(line.strip(), nearest(line, (one.name for one in EVERY))))
    elif asking_back.answered(asked.offer if asked else None, line, played.say) and asked:
        asked.offer = None


def claim(played: Round, argument: str) -> None:
    chosen, rest = played.named(argument)
    if not any(one.report.left for one in played.files):
        played.say("all planted bugs are gone: there is none left to claim")
    elif len(chosen) > 1:
        played.say(f"say in which file: `bug {' LINE WHY` or `bug '.join(played.names)} LINE WHY`")
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
        played.say("nothing is claimed yet")


def submit(played: Round, argument: str) -> None:
    played.submit(argument)


def run_tests(played: Round, argument: str) -> None:
    played.run(argument)


def hint(played: Round, argument: str) -> None:
    chosen = played.only(argument)
    left = [(one, bug) for one in chosen for bug in one.report.left if bug.hints < len(HINT_COSTS)]
    if not left:
        played.say("there is no further hint; `hints` shows those so far again")
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
        debugging.terminal.rows((str(number), line) for number, line in debugging.region(bug))
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
            attempts.write(one.file, one.report.planted)
            one.say(f"{one.shown} is as it was written")


def end(played: Round, argument: str) -> None:
    question = "this ends the round, with its report; only what was submitted counts as mended. End it?"
    if played.at_hand.confirm(question):
        played.end()


def tell_commands(played: Round, argument: str) -> None:
    here = [replace(one, does=played.does.get(one.name, one.does)) for one in EVERY]
    more = dict[str, str]()
    if len(played.files) > 1:
        more = {"": f"{played.taking} also take a file: {', '.join(played.names)}"}
        here = [replace(one, usage="bug FILE LINE WHY") if one.name == "bug" else one for one in here]
    tell(played.terminal, here, more)


COSTS = ", ".join(f"-{cost}" for cost in HINT_COSTS)
EVERY: tuple[Command[Round], ...] = (
    Command("help", "this list", tell_commands),
    Command(
        "bug LINE WHY",
        f"claim a bug before you mend it: {EACH} points for its line, {EACH} for the reason",
        claim,
        "words",
    ),
    Command("claims", "what you claimed so far, and how it was understood", show_claims, "word"),
    Command("submit", f"judge the file: how many bugs are gone, {EACH} points for each", submit, "word"),
    Command(
        "hint",
        f"at the first bug that is left: what fails, then five lines, then what is wrong; {COSTS} points",
        hint,
        "word",
    ),
    Command("hints", "show the hints so far again", show_hints, "word"),
    Command("run FILE", f"run tests of yours: {running.WHICH}", run_tests, "word"),
    Command("task", "the task again", lambda played, _: played.introduce()),
    Command("diff", "what you changed", show_diff, "word"),
    Command("restore", "bring back the file as it was at first, with its bugs", restore, "word"),
    TIME,
    QUIT,
    Command("end", "end the round now, with its report", end),
)
