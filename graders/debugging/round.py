"""A round over one file or several: each has its own record, and one clock, one terminal and one end are common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graders.catalogue.programs import Extension, Program
from graders.debugging.debugging import Debugging
from graders.faults import UsageError

SEVERAL = """{files} are right answers with {bugs} bugs planted in them: {shares}. Look for them in {editor}.

`bug FILE LINE WHY` claims one, as in `bug {first} 12 why`. {rest}"""


class Round:
    """What is sat: its files in order, and the one that was named last; in a symptom round they are a program's."""

    def __init__(self, files: Sequence[Debugging], program: Program | None = None) -> None:
        self.files = [*files]
        self.program = program
        self.at_hand = self.files[0]
        for one in self.files:
            one.pace = self.files[0].pace  # the time is told once
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
    def in_words(self) -> str:
        return joined([one.file.name for one in self.files])

    @property
    def extension(self) -> Extension | None:
        """What is at hand of what a symptom round goes on with, once its bugs are gone."""
        if self.program is None or any(one.report.left for one in self.files):
            return None
        solved = {name for one in self.files for name in one.report.extended}
        return next((one for one in self.program.extensions if one.kata not in solved), None)

    def introduce(self) -> None:
        if len(self.files) == 1:
            self.files[0].introduce()
            return
        first, *_ = self.files
        counts = [len(one.report.bugs) for one in self.files]
        first.terminal.heading(joined(self.names))
        first.say(
            SEVERAL.format(
                files=joined([one.shown for one in self.files]),
                bugs=sum(counts),
                shares=joined([f"{count} in {name}" for count, name in zip(counts, self.names, strict=True)]),
                editor=first.terminal.editor,
                first=self.names[-1],
                rest=first.rules,
            )
        )

    def named(self, argument: str) -> tuple[list[Debugging], str]:
        """The file that the argument begins with, and the rest of it; all files where it begins with none."""
        found = re.match(r"(\w+)(?:\.py)?(?:[\s:,]+|$)(.*)", argument, re.DOTALL)
        chosen = [one for one in self.files if found and one.kata.id == found[1]]
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
            one.terminal.say(one.shown, style="bold")

    def end(self) -> None:
        """Raises: UsageError."""
        for one in self.files:
            if not one.report.ended:
                one.end()


def joined(words: Sequence[str]) -> str:
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last
