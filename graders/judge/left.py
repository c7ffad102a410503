"""What is left of an answer whose mathematics is right, all on one card: a line for each kind."""

from __future__ import annotations

import re

from graders.judge.correctness import LIKEWISE, OR
from graders.judge.results import Outcome, Result

BY_DTYPE = re.compile(r" (float|int|uint|bool)\d*(?=[,)])")
NO_RESULT = "got a result"  # in the message of a refusal that is missing


def left_over(result: Result) -> list[tuple[str, str]]:
    """Label and text of each row: bad arguments, then edges, then cost."""
    refusals = [one for one in result.failures if one.category == "contract"]
    through = [one for one in refusals if NO_RESULT in (one.message or "")]
    rows = []
    if through:
        kinds = "a kind of call that" if len(through) == 1 else f"{len(through)} kinds of calls that each"
        lines = [f"{kinds} should raise ValueError", *map(in_short, through)]
        rows.append(("lets through", "\n".join(lines)))
    rows += [("refuses", f"{in_short(one)}: {fact_of(one)}") for one in refusals if one not in through]
    edges: dict[str, list[Outcome]] = {}
    for one in sorted(result.failures, key=lambda failed: failed.order):
        if one.category != "contract":
            edges.setdefault(case_of(one), []).append(one)
    for case, failed in edges.items():
        label = "too dear" if failed[0].category == "performance" else "edge"
        rows.append((label, f"{case}: {failed[0].message}"))
        if failed is next(iter(edges.values())) and failed[0].call:
            rows.append(("call", failed[0].call))
    return rows


def case_of(outcome: Outcome) -> str:
    """robustness/large_mean/float64 -> large_mean, performance/many_rows/memory -> many_rows/memory."""
    parts = outcome.name.split("/")
    return "/".join(parts[1:] if outcome.category == "performance" else parts[1:2])


def in_short(refusal: Outcome) -> str:
    """`not_the_end: x[3, 4, 5], normalized_shape=[4] · normalized_shape=[6] and 9 more`"""
    call = refusal.call.partition("  # ")[0]
    first = BY_DTYPE.sub("", call.partition("(")[2]).removesuffix(")")
    calls = OR.join(filter(None, (first, (refusal.message or "").partition(LIKEWISE)[2])))
    return f"{case_of(refusal)}: {calls}"


def fact_of(outcome: Outcome) -> str:
    fact = (outcome.message or "").partition(": ")[2] or (outcome.message or "")
    return fact.partition(LIKEWISE)[0]
