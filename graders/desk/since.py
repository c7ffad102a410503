"""What changed from one attempt to the next: which outputs and checks are right now, and which no longer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from graders.desk.state import Event
from graders.judge.results import Result
from graders.kata.spec import CATEGORIES

OUTPUTS = re.compile(r"(?:^|, )(.+?) (right|wrong)(?=, |$)")  # as `ask_each` tells of them behind a failure
UNREAD = "error"


@dataclass(frozen=True)
class Seen:
    """As much of an attempt as its record keeps.

    Args:
        error: it could not be imported.
        failed: the names of the checks that failed, first the one that the card shows.
        message: of that one.
    """

    error: bool
    failed: Sequence[str]
    message: str

    @classmethod
    def of(cls, seen: Result | Event) -> Seen:
        if isinstance(seen, Event):
            return cls(seen.body["state"] == UNREAD, seen.body["failed"], seen.body["message"] or "")
        first = seen.first_failure
        failed = sorted(seen.failures, key=lambda one: one is not first)
        return cls(seen.error, [one.name for one in failed], (first.message if first else None) or "")

    @property
    def outputs(self) -> dict[str, bool]:
        """Whether each output of the call that the card shows is right, where some are."""
        told = OUTPUTS.findall(self.message.partition("\n")[0].rpartition("; ")[2])
        return {name: verdict == "right" for name, verdict in told}


def changes(before: Result | Event, now: Result) -> str:
    """`w2, b2 now right; shapes, gradients now pass; numerics: 3 fail, 5 before`"""
    one, other = Seen.of(before), Seen.of(now)
    if one.error or other.error:
        if not other.error:
            return "it can be imported now"
        return "it still cannot be imported" if one.error else "it cannot be imported any more"
    words = []
    if one.failed[:1] == other.failed[:1]:
        known = one.outputs
        words += [named("now right", [name for name, right in other.outputs.items() if right and not known.get(name)])]
        words += [named("now wrong", [name for name, right in other.outputs.items() if known.get(name) and not right])]
    old, new = (Counter(name.partition("/")[0] for name in seen.failed) for seen in (one, other))
    asked = {outcome.category for outcome in now.outcomes if outcome.state != "skipped"}
    words.append(named("now pass", [one for one in CATEGORIES if old[one] and not new[one] and one in asked]))
    words.append(named("fail now", [one for one in CATEGORIES if new[one] and not old[one]]))
    both = [one for one in CATEGORIES if new[one] and old[one] and new[one] != old[one]]
    words += [f"{one}: {new[one]} fail, {old[one]} before" for one in both]
    return "; ".join(filter(None, words)) or "no check changed"


def named(what: str, names: Sequence[str]) -> str:
    return f"{', '.join(names)} {what}" if names else ""
