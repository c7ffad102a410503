"""What a learner says of a bug: the line is compared with the planted ones, the words with all known mistakes."""

from __future__ import annotations

import re

from rich.text import Text

from graders.debugging.debugging import Debugging
from graders.desk.debugged import PlantedBug
from graders.sitting import asking_back
from graders.sitting.asking_back import Offer

NEVER = 2.0  # a probability that nothing reaches
LEAST = 0.05  # the score of words that have something to do with a mistake
OFFERED = 3
MOST_SHOWN = 55  # characters of a line
LINE = re.compile(r"(?:line\s+)?(\d+)\b[\s:,.)-]*(.*)", re.IGNORECASE | re.DOTALL)
HOW = "say where and why: `bug LINE WHY`, by the line's number in your file as it is now"


def claim(debugging: Debugging, argument: str) -> None:
    """A command: a line that has a bug, and why it is wrong. Whether that is so is told at the end."""
    found = LINE.match(argument.strip())
    lines = debugging.source().splitlines()
    if not found:
        debugging.say(HOW)
        return
    number, words = found.groups()
    if len(number) > len(str(len(lines))) or not 1 <= int(number) <= len(lines):
        debugging.say(f"{debugging.shown} has {len(lines)} lines; {HOW}")
        return
    bug = debugging.bug_at(int(number))
    if bug is not None and bug.mended is not None:
        debugging.say("that one is gone already, and a claim comes before")
        return
    understand(debugging, int(number), lines[int(number) - 1].strip(), words.strip(), bug)


def understand(debugging: Debugging, line: int, text: str, words: str, bug: PlantedBug | None) -> None:
    names = [one.name for one in debugging.mistakes]
    name = bug.name if bug else None
    sure, maybe = meant(debugging, words, names.index(name) if name in names else None) if words else (None, [])
    debugging.note("claim", line=line, text=words, bug=name, meant=None if sure is None else names[sure])
    debugging.say(f"noted: line {line}, {text[:MOST_SHOWN] or 'which is empty'}")
    if sure is None and maybe:
        debugging.say(asking_back.preamble(len(maybe), "mean"))
        debugging.offer = Offer(maybe, lambda one: take(debugging, name, names[one]))
        table = debugging.terminal.two_columns()
        for place, one in enumerate(maybe, start=1):
            table.add_row(str(place), Text(debugging.mistakes[one].diagnosis))
        debugging.terminal.show(table)
    elif sure is None:
        why = "I did not understand why it is wrong: put it another way" if words else "Say also why it is wrong"
        debugging.say(f"{why}: bug {line} WHY")


def take(debugging: Debugging, bug: str | None, mistake: str) -> None:
    """What was asked back."""
    debugging.note("meant", bug=bug, meant=mistake)
    debugging.say("noted")


def meant(debugging: Debugging, words: str, planted: int | None) -> tuple[int | None, list[int]]:
    """The mistake that is meant for sure; and where none is, those that may be.

    The line speaks for the one that is planted there, so that is among them unless no word fits. Being sure of another
    one is not enough then.
    """
    sure, maybe = debugging.matcher.match(words).meant, [*debugging.matcher.match(words, NEVER).maybe]
    if planted is not None and planted != sure and debugging.matcher.scores(words)[planted] > LEAST:
        maybe = sorted({*maybe[: OFFERED - 1], planted} if planted not in maybe else maybe)
        return None, maybe
    return sure, sorted(maybe)
