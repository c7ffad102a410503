"""A grading within an interview: the card shows what failed, and keeps to itself what it looks like."""

from __future__ import annotations

from graders.judge.card import costs_in_words
from graders.judge.results import Result
from graders.sitting.grading import SittingReporter

KEPT_BACK = {"looks like", "rerun", "debug", "hint"}  # a hint outside of the interview would cost nothing
MOST_NAMES = 10


class InterviewReporter(SittingReporter):
    """Shows what failed and what it cost."""

    def rows(self, result: Result) -> list[tuple[str, str]]:
        """The card's, the names of what failed, and the cost."""
        failed = result.state in ("failing", "error")
        rows = [row for row in super().rows(result) if row[0] not in KEPT_BACK] if failed else []
        names = list(dict.fromkeys(outcome.name.split("/")[1] for outcome in result.failures))
        if len(names) > 1:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            rows.append(("checks", ", ".join(names[:MOST_NAMES]) + more))
        return rows + [("cost", words) for words in costs_in_words(result)]
