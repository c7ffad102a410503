"""What a learner says of a bug: the line is compared with the planted ones, the words with all known mistakes."""

from __future__ import annotations

import re

from rich.text import Text

from graders.debugging.debugging import Debugging
from graders.desk.debugged import PlantedBug
from graders.sitting import asking_back
from graders.sitting.asking_back import MAYBE, Offer

LEAST = 0.05  # the score of words that have something to do with a mistake
HERE = 0.3  # what a mistake is nearer by whose edit is in the line that is claimed
OFFERED = 3  # always, where a kata has as many: one alone would be the answer
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
        debugging.say("that bug is gone already; claim a bug before you mend it")
        return
    understand(debugging, int(number), lines[int(number) - 1].strip(), words.strip(), bug)


def understand(debugging: Debugging, line: int, text: str, words: str, bug: PlantedBug | None) -> None:
    """What is asked back follows from the line and the words alone, and never from what is planted."""
    names = [one.name for one in debugging.mistakes]
    sure, maybe = meant(debugging, words, line) if words else (None, [])
    name = bug.name if bug else None
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
    debugging.say("noted; your last claim about a bug counts")


def meant(debugging: Debugging, words: str, line: int) -> tuple[int | None, list[int]]:
    """The mistake that is meant for sure; and where none is, those that may be, nearly all of which nobody planted.

    The line speaks for those whose edit is in it. Being sure of one that is made elsewhere is not enough.
    """
    here = debugging.made_in(line)
    scores = debugging.matcher.scores(words)
    likely = {one: scores[one] + HERE * (one in here) for one in range(len(scores)) if scores[one] > LEAST}
    sure = debugging.matcher.match(words).meant
    if sure is not None and (sure in here or not here & likely.keys()):
        return sure, []
    if not any(one in here or scores[one] >= MAYBE for one in likely):
        return None, []
    others = {one: scores[one] for one in range(len(scores)) if one not in likely}
    ordered = sorted(likely, key=lambda one: -likely[one]) + sorted(others, key=lambda one: -others[one])
    return None, sorted(ordered[:OFFERED])
