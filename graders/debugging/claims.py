"""What a learner says of a bug: the line is compared with the planted ones, the words with all known mistakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from graders.debugging.debugging import Debugging
from graders.desk.debugged import PlantedBug
from graders.kata.mistakes import Mistake
from graders.sitting.asking_back import MAYBE, Match, Offer
from graders.sitting.wording import is_vague

LEAST = 0.05  # the score of words that have something to do with a mistake
HERE = 0.3  # what a mistake is nearer by whose edit is in the line that is claimed
NAMED = 0.3  # and whose edit alone, of those in this line, has a word of code that was said
LEAD = 0.25  # by which the nearest is taken for meant, until somebody says no: measured on 130 reasons, see the tests
OFFERED = 3  # always, where a kata has as many: one alone would be the answer
SAYS_NOTHING = re.compile(r"\b(?:wrong|bug|incorrect|broken|bad|error|mistake)(?:ly|s)?\b", re.IGNORECASE)
MOST_SHOWN = 55  # characters of a line
LINE = re.compile(r"(?:line\s+)?(\d+)\b[\s:,.)-]*(.*)", re.IGNORECASE | re.DOTALL)
HOW = "say where and why: `bug {called}LINE WHY`, by the line's number in your file as it is now"


def claim(debugging: Debugging, argument: str) -> None:
    """A command: a line that has a bug, and why it is wrong. Whether that is so is told at the end."""
    found = LINE.match(argument.strip())
    lines = debugging.source().splitlines()
    how = HOW.format(called=debugging.called)
    if not found:
        debugging.say(how)
        return
    number, words = found.groups()
    if len(number) > len(str(len(lines))) or not 1 <= int(number) <= len(lines):
        debugging.say(f"{debugging.shown} has {len(lines)} lines; {how}")
        return
    bugs = debugging.bugs_at(int(number))
    if bugs and all(bug.mended is not None for bug in bugs):
        debugging.say("that bug is gone already; claim a bug before you mend it")
        return
    understand(debugging, int(number), lines[int(number) - 1].strip(), words.strip(), bugs)


def understand(debugging: Debugging, line: int, text: str, words: str, bugs: Sequence[PlantedBug]) -> None:
    """What is asked back follows from the line and the words alone, and never from what is planted.

    Where the line has several bugs, the words decide for which of them the claim counts; they also do for what is left
    out of its function.
    """
    names = [one.name for one in debugging.mistakes]
    with debugging.terminal.waiting("reading what you say"):  # the first time takes seconds
        found = meant(debugging, words, line) if words else Match(None, ())
    there = [bug.name for bug in bugs if bug.mended is None]
    if len(there) > 1 and words:
        scores = debugging.matcher.scores(words)
        there.sort(key=lambda name: -scores[names.index(name)])
    taken = None if found.taken is None else names[found.taken]
    missed = [bug.name for bug in debugging.left_out_of(line) if bug.mended is None]

    def whose(mistake: str | None) -> str | None:
        """The bug that the claim counts for: the first of the line's where the words mean none of them."""
        return mistake if mistake in (*there, *missed) else next(iter(there), None)

    means = "" if found.taken is None else wrong_in(debugging.mistakes[found.taken])
    debugging.note("claim", line=line, text=words, bug=whose(taken), meant=taken, means=means)
    debugging.say(f"noted: line {line}, {text[:MOST_SHOWN] or 'which is empty'}")
    if found.clear:
        debugging.say(f"I take that as: {means}")
        offer(debugging, found.maybe[1:], whose, lambda: debugging.note("meant", bug=whose(""), meant=""))
    elif found.maybe:
        offer(debugging, found.maybe, whose)
    else:
        why = "I did not understand why it is wrong: put it another way" if words else "Say also why it is wrong"
        debugging.say(f"{why}: bug {debugging.called}{line} WHY")


def offer(
    debugging: Debugging,
    maybe: Sequence[int],
    whose: Callable[[str], str | None],
    take_back: Callable[[], None] | None = None,
) -> None:
    """Lists the mistakes that may be meant; `take_back` undoes what the words were taken for."""
    known = debugging.mistakes
    made = Offer(maybe, lambda one: take(debugging, whose(known[one].name), known[one]), take_back)
    debugging.ask_back(made, "mean", (wrong_in(known[one]) for one in maybe))


def wrong_in(mistake: Mistake) -> str:
    """What its sentence says is wrong, without what to do about it."""
    return mistake.diagnosis.partition("; ")[0]


def take(debugging: Debugging, bug: str | None, mistake: Mistake) -> None:
    """What was asked back."""
    debugging.note("meant", bug=bug, meant=mistake.name, means=wrong_in(mistake))
    debugging.say("noted; your last claim about a bug counts")


def show(debugging: Debugging) -> None:
    """All claims, and how each was understood; whether a bug is there is told at the end."""
    rows = []
    for one in debugging.report.claims:
        understood = f"taken as: {one.means}" if one.means else "why is not understood"
        rows.append((f"line {one.line}", f"{one.words}\n{understood}" if one.words else "no reason"))
    debugging.terminal.rows(rows)


def meant(debugging: Debugging, words: str, line: int) -> Match:
    """Which mistake is meant.

    Nearly all of these nobody planted. The line speaks for those whose edit is in it, and being sure of one that is
    made elsewhere is not enough.
    """
    here = debugging.made_in(line)
    scores = debugging.matcher.scores(words)
    nearer = dict.fromkeys(here, HERE) | dict.fromkeys(named(debugging, words, here), HERE + NAMED)
    likely = {one: scores[one] + nearer.get(one, 0.0) for one in range(len(scores)) if scores[one] > LEAST}
    sure = debugging.matcher.match(words).meant
    if sure is not None and (sure in here or not here & likely.keys()):
        return Match(None, (sure,), True)
    if not any(one in here or scores[one] >= MAYBE for one in likely):
        return Match(None, ())
    ordered = sorted(range(len(scores)), key=lambda one: (one not in likely, -likely.get(one, scores[one])))
    lead = likely[ordered[0]] - likely.get(ordered[1], 0.0) if len(ordered) > 1 else 0.0
    nearest = next((one for one in ordered if one in here), ordered[0])
    maybe = ordered[:OFFERED] if nearest in ordered[:OFFERED] else [*ordered[: OFFERED - 1], nearest]
    return Match(None, tuple(maybe), bool(lead >= LEAD) and not is_vague(SAYS_NOTHING.sub("", words)))


def named(debugging: Debugging, words: str, here: set[int]) -> Iterator[int]:
    """Those of some mistakes of which a word is said that stands in the edit of no other of them."""
    said = {one: debugging.named_by[one].intersection(re.findall(r"\w+", words.lower())) for one in here}
    having = Counter(word for some in said.values() for word in some)
    yield from (one for one, some in said.items() if any(having[word] == 1 for word in some))
