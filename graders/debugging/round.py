"""A round over one file or several: each has its own record, and one clock, one terminal and one end are common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.debugging.debugging import Debugging
from graders.debugging.grading import DebugReporter, Judged, judge
from graders.desk.debugged import EACH, HINT_COSTS, WRONG_LINE
from graders.faults import UsageError
from graders.sitting import running

REWRITTEN = 3  # times as many lines as are needed, from which on that is said
INTRODUCTION = """{file} is a right answer with {bugs} planted in it. Look for {them} in {editor}.

`bug LINE WHY` claims one. {rules}"""
RULES = f"""Claim a bug before you mend it: {EACH} points for its line, {EACH} for the reason, and {WRONG_LINE} \
less if no bug is there. At the end you see which claims were right. `submit` judges, and says how many bugs are gone: \
{EACH} points for each. `hint` helps (-{HINT_COSTS[0]} points), `help` lists what else you can type."""
SEVERAL = """{files} are right answers with {bugs} planted in them: {shares}. Look for them in {editor}.

`bug FILE LINE WHY` claims one, as in `bug {first} 12 why`. {rules}"""


class Round:
    """What is sat: its files in order, and the one that was named last."""

    taking = "submit, hint, hints, diff, restore and run"  # commands that also take a file

    def __init__(self, files: Sequence[Debugging]) -> None:
        self.files = [*files]
        self.first = self.at_hand = self.files[0]
        self.terminal = self.first.terminal
        self.say = self.terminal.say
        for one in self.files:
            one.pace = self.first.pace  # the time is told once
            one.called = f"{one.kata.id} " * (len(self.files) > 1)

    @property
    def ended(self) -> bool:
        return all(one.report.ended for one in self.files)

    @property
    def asked(self) -> Debugging | None:
        """The file that a question is open about: what a claim means."""
        return next((one for one in self.files if one.offer), None)

    def ask(self) -> str:
        """The next line."""
        offer = self.asked.offer if self.asked else None
        return self.at_hand.ask(f"1 to {len(offer.numbers)}, or no " if offer and not offer.take_back else "")

    @property
    def names(self) -> list[str]:
        return [one.kata.id for one in self.files]

    @property
    def beside(self) -> list[Kata]:
        """Further files that are shown beside these."""
        return []

    @property
    def does(self) -> dict[str, str]:
        """What a command does, by its name, where that is not the usual."""
        return {}

    @property
    def task(self) -> tuple[str, str]:
        """What is at hand, as Session.task has it."""
        return "", ""

    @property
    def count(self) -> int:
        """Of bugs."""
        return sum(len(one.report.bugs) for one in self.files)

    def introduce(self) -> None:
        words = {"bugs": f"{self.count} bugs", "them": "them", "editor": self.terminal.editor, "rules": RULES}
        if len(self.files) > 1:
            self.terminal.heading(joined(self.names))
            shares = joined([f"{len(one.report.bugs)} in {one.kata.id}" for one in self.files])
            files = joined([one.shown for one in self.files])
            self.say(SEVERAL.format(files=files, shares=shares, first=self.names[-1], **words))
            return
        one = self.first.report
        self.terminal.heading(f"{one.kata} ({one.topic}, level {one.level})")
        if self.count == 1:
            words |= {"bugs": "1 bug", "them": "it"}
        words["bugs"] += " that cost too much" * one.slow
        self.say(INTRODUCTION.format(file=self.first.shown, **words))

    def submit(self, argument: str) -> None:
        """Each file that is named, but for those that nothing is left to be found in."""
        for one in self.only(argument):
            if one.solved and one.source() == one.report.source:
                one.say(f"{one.kata.id}: all of its planted bugs are gone")
            else:
                submit_file(one)
        if all(one.solved for one in self.files):
            self.end()

    def run(self, argument: str) -> None:
        """Tests of the file that is named, or whose name the tests' begins with; else of the one at hand."""
        chosen, rest = self.named(argument)
        tested = [one for one in chosen if Path(rest).name.startswith(one.kata.id)]
        running.run(chosen[0] if len(chosen) == 1 else tested[0] if tested else self.at_hand, rest)

    def named(self, argument: str) -> tuple[list[Debugging], str]:
        """The file that the argument begins with, and the rest of it; all files where it begins with none."""
        found = re.match(r"(\w+)(?:\.py)?(?:[\s:,]+|$)(.*)", argument, re.DOTALL)
        chosen = [one for one in self.files if found and one.kata.id == found[1].lower()]
        if not found or not chosen:
            return self.files, argument
        self.at_hand = chosen[0]
        return chosen, found[2]

    def only(self, argument: str) -> list[Debugging]:
        """The file that it names, or all of them for "". Raises: UsageError."""
        chosen, rest = self.named(argument)
        if rest:
            raise UsageError(f"there is no file {rest!r} in this round; name {' or '.join(self.names)}")
        return chosen

    def heading(self, one: Debugging) -> None:
        """Which file follows, where there are several."""
        if len(self.files) > 1:
            self.terminal.say(one.shown, style="bold")

    def tell_time(self) -> None:
        self.at_hand.tell_time()

    def end(self) -> None:
        """Raises: UsageError."""
        for one in self.files:
            if not one.report.ended:
                one.finish()


def submit_file(one: Debugging) -> None:
    """Says how many bugs are gone, and of something new that there is. Raises: UsageError, Stopped."""
    reporter = DebugReporter(one.terminal, one.judge)
    judged = judge(one, reporter)
    if judged is None:
        one.say("this does not count: there is nothing to judge in it")
    elif judged.result:
        one.say(what_is_left(one, judged))
        if judged.left.new and judged.left.bugs:
            one.say("Something else fails, which no planted bug breaks: a change of yours breaks it.")
        elif judged.left.new:
            reporter.show_failure(judged.result)
        changed, needed = one.report.changed, one.report.needed
        if changed >= REWRITTEN * needed + REWRITTEN:
            one.say(f"you changed {changed} lines; {needed} {'is' if needed == 1 else 'are'} needed")


def what_is_left(one: Debugging, judged: Judged) -> str:
    count, left = len(one.bugs), judged.left
    gone = count - len(left.bugs)
    if left.bugs and count > 1:
        return f"{gone} of {count} planted bugs {'is' if gone == 1 else 'are'} gone"
    if left.bugs:
        return "the planted bug is not gone yet"
    are = "bugs are" if count > 1 else "bug is"
    if left.new:
        return f"The planted {are} gone, but something else fails, which no planted bug breaks:"
    return f"all planted {are} gone" if count > 1 else f"the planted {are} gone"


def joined(words: Sequence[str]) -> str:
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last
