"""Debug rounds, by their events: which bugs were planted, and which of them were found, explained and mended."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graders.desk.progress import remembered
from graders.desk.sat import Sat, sat
from graders.desk.state import Event

if TYPE_CHECKING:
    from fsrs import Card

EACH = 10  # points, for a bug's line, for its explanation, and for its repair
HINT_COSTS = (3, 5, 10)  # points, of the first hint at a bug, the second, the third
WRONG_LINE = 2  # points, for a line that was claimed and has no bug
KEY = "debug"


@dataclass
class PlantedBug:
    """A bug of a round, and what became of it.

    Args:
        name: of the mistake.
        sentence: what is wrong and what to do.
        line: where it begins in the file as it was written, from 1.
        lines: by which it may be claimed.
        was, right: the lines that stand there, and those that should.
        check, call: what it fails alone.
        alone: the symptom of a program that has no other.
        found, explained, mended: after how many seconds; None: not so far.
        words: in which it was claimed.
        hints: the level that was reached.
    """

    name: str
    sentence: str
    line: int
    lines: list[int]
    was: list[str]
    right: list[str]
    check: str
    call: str
    alone: str = ""
    found: float | None = None
    explained: float | None = None
    mended: float | None = None
    words: list[str] = field(default_factory=list)
    hints: int = 0

    @property
    def points(self) -> int:
        earned = EACH * sum(at is not None for at in (self.found, self.explained, self.mended))
        return max(earned - sum(HINT_COSTS[: self.hints]), 0)


@dataclass
class Claim:
    """What was said of a line: the words, the bug that they count for, and the mistake that they mean, by names.

    Args:
        means: what they were taken for, in words; "" where they were not understood.
        first: whether the bug was found by it.
    """

    line: int
    words: str
    bug: str | None
    meant: str | None = None
    means: str = ""
    first: bool = False


@dataclass
class DebugRound(Sat):
    """One round.

    Args:
        kata, topic, level: what they are planted in.
        bugs: in the order of their lines.
        slow: whether they cost too much, and give right values.
        planted, right: the file as it was written, and without bugs.
        needed: lines that have to change.
        claims: all of them, in order.
        verdict: of the last submission; "" before it.
        runs: (the file, whether it passed), of own tests.
        source: as it was judged last, or stood at the end.
        changed: lines of it that are others than those of the file as it was written.
        pasted: whether the reference was ever submitted in the place of the file.
        joint: what the rounds of several files that share a clock have in common; "" where it is one file.
        program: of a symptom round, whose file it is; "" of a kata.
        symptom: what was told of it.
        extended: what the round went on with in this file and was solved, and after how many seconds.
    """

    kata: str
    topic: str
    level: int
    bugs: list[PlantedBug]
    slow: bool
    planted: str
    right: str
    needed: int
    claims: list[Claim] = field(default_factory=list)
    verdict: str = ""
    runs: list[tuple[str, bool]] = field(default_factory=list)
    source: str = ""
    changed: int = 0
    pasted: bool = False
    joint: str = ""
    program: str = ""
    symptom: str = ""
    extended: dict[str, float] = field(default_factory=dict)

    @property
    def known(self) -> str:
        """The text of which it is known what bugs it has: as it was judged last, or written."""
        return self.source or self.planted

    @property
    def wrong(self) -> list[int]:
        """Lines that were claimed and have no bug."""
        return list(dict.fromkeys(one.line for one in self.claims if self.bug(one.bug) is None))

    @property
    def measured(self) -> int:
        return max(sum(bug.points for bug in self.bugs) - WRONG_LINE * len(self.wrong), 0)

    @property
    def max_score(self) -> int:
        return 3 * EACH * len(self.bugs)

    @property
    def left(self) -> list[PlantedBug]:
        """Those that are not mended."""
        return [bug for bug in self.bugs if bug.mended is None]

    @property
    def found(self) -> int:
        return sum(bug.found is not None for bug in self.bugs)

    @property
    def explained(self) -> int:
        return sum(bug.explained is not None for bug in self.bugs)

    @property
    def mended(self) -> int:
        return len(self.bugs) - len(self.left)

    @property
    def hints(self) -> int:
        return sum(bug.hints for bug in self.bugs)

    @property
    def rating(self) -> int:
        """How it went, as progress.RATINGS numbers it."""
        if self.left:
            return 1
        if self.hints:
            return 2
        return 4 if self.found == self.explained == len(self.bugs) else 3

    def taken_as(self, bug: PlantedBug) -> str:
        """What the last words about a bug were taken for that do not explain it; "" where none were understood."""
        others = [one.means for one in self.claims if one.bug == bug.name and one.meant != bug.name]
        return others[-1] if others and bug.explained is None else ""

    def bug(self, name: str | None) -> PlantedBug | None:
        return next((bug for bug in self.bugs if bug.name == name), None)

    def add_claim(self, body: dict[str, Any], event: Event) -> None:
        bug = self.bug(body["bug"])
        self.claims.append(Claim(body["line"], body["text"], body["bug"]))
        if bug is not None and bug.mended is None:
            self.find(bug, self.claims[-1])
        self.add_meant(body, event)

    def find(self, bug: PlantedBug, claim: Claim) -> None:
        """By a claim, which counts for this bug from now on."""
        claim.bug, claim.first = bug.name, bug.found is None
        bug.found = self.elapsed if bug.found is None else bug.found
        if claim.words:
            bug.words.append(claim.words)

    def add_meant(self, body: dict[str, Any], event: Event) -> None:
        """Which mistake the words of the last claim mean, and so for which bug it counts, if for any."""
        bug, claim = self.bug(body["bug"]), self.claims[-1]
        claim.meant, claim.means = body["meant"], body.get("means", "")
        if body["bug"] != claim.bug and (bug is None or bug.mended is None):
            if other := self.bug(claim.bug):
                if claim.first:
                    other.found = other.explained = None
                other.words = other.words[: -1 if claim.words else None]
            claim.bug = None
            if bug is not None:
                self.find(bug, claim)
        told = bug is not None and bug.hints == len(HINT_COSTS)  # by the last hint
        if bug is None or body["meant"] is None or bug.mended is not None or told:
            return
        if body["meant"] != bug.name:
            bug.explained = None  # what is said last counts: else one could say everything
        elif bug.explained is None:
            bug.explained = self.elapsed

    def add_hint(self, body: dict[str, Any], event: Event) -> None:
        if bug := self.bug(body["bug"]):
            bug.hints = max(bug.hints, body["level"])

    def add_run(self, body: dict[str, Any], event: Event) -> None:
        self.runs.append((body["file"], body["passed"]))

    def add_submit(self, body: dict[str, Any], event: Event) -> None:
        self.source, self.changed = body["source"], body["changed"]
        if body["pasted"]:
            self.pasted = True
            return
        for bug in self.bugs:
            if bug.name in body["left"]:
                bug.mended = None
            elif bug.mended is None:
                bug.mended = self.elapsed
        self.verdict = body["state"]

    def add_extend(self, body: dict[str, Any], event: Event) -> None:
        if body["solved"]:
            self.extended.setdefault(body["extension"], self.elapsed)


def begun(event: Event) -> DebugRound:
    """What its first event says."""
    body = event.body | opened(event.body.get("sealed", ""))
    names = ("minutes", "seed", "kata", "topic", "level", "slow", "planted", "right", "needed")
    bugs = [PlantedBug(**one) for one in body["bugs"]]
    known = {name: body[name] for name in names}
    more = {name: body.get(name, "") for name in ("joint", "program", "symptom")}
    made = DebugRound(id=body[KEY], when=event.at, bugs=bugs, **more, **known)
    made.add(event)
    return made


def sealed(what: dict[str, Any]) -> str:
    """The answers of a round, so that nobody reads them by chance who looks into its folder: it is no secret."""
    return base64.b64encode(zlib.compress(json.dumps(what).encode())).decode()


def opened(text: str) -> dict[str, Any]:
    """What was sealed; nothing in rounds of older versions, which kept it in plain."""
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text))) if text else {}
    return found


def debug_rounds(events: Iterable[Event]) -> list[DebugRound]:
    """All of them, the oldest first, from all events."""
    return sat(KEY, begun, events)


def together(rounds: Iterable[DebugRound], one: DebugRound) -> list[DebugRound]:
    """The rounds that share its clock, itself included, in order."""
    return [other for other in rounds if other.id == one.id or (one.joint and other.joint == one.joint)]


@dataclass
class Practice:
    """Debug rounds at one kata: what FSRS remembers of them is apart from what it remembers of writing it."""

    kata: str
    rounds: list[DebugRound] = field(default_factory=list)
    card: Card | None = None  # None before a round ended

    @property
    def due(self) -> datetime | None:
        return self.card.due if self.card else None

    @property
    def counts(self) -> dict[str, int]:
        """Of the bugs of all rounds that ended: how many there were, and what became of them."""
        over = [one for one in self.rounds if one.ended]
        names = ("found", "explained", "mended")
        bugs = {"rounds": len(over), "bugs": sum(len(one.bugs) for one in over)}
        return bugs | {name: sum(getattr(one, name) for one in over) for name in names}

    def add(self, one: DebugRound) -> None:
        self.rounds.append(one)
        if one.at_end:
            self.card = remembered(self.card, one.at_end, one.rating)


def due(found: Mapping[str, Practice], by: datetime) -> list[str]:
    """The katas that a debug round is due at, the longest first."""
    waiting = sorted((one.due, name) for name, one in found.items() if one.due is not None and one.due <= by)
    return [name for _, name in waiting]


def practices(rounds: Iterable[DebugRound]) -> dict[str, Practice]:
    """By kata: a symptom round comes back to nobody."""
    found: dict[str, Practice] = {}
    for one in (one for one in rounds if not one.program):
        found.setdefault(one.kata, Practice(one.kata)).add(one)
    return found
