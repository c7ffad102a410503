"""A grading within an interview: the card shows what failed, and keeps to itself what it looks like."""

from __future__ import annotations

from graders.judge.card import Card, Row
from graders.sitting.grading import SittingReporter

MOST_NAMES = 10


class InterviewReporter(SittingReporter):
    """Shows what failed and what it cost; a hint outside of the interview would cost nothing."""

    def rows(self, card: Card) -> list[Row]:
        """The card's facts, the names of what failed, and the cost."""
        rows = [*card.facts]
        names = list(dict.fromkeys(outcome.name.split("/")[1] for outcome in card.result.failures))
        if len(names) > 1:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            rows.append(("checks", ", ".join(names[:MOST_NAMES]) + more))
        return rows + [("cost", words) for words in card.costs]
