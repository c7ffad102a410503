"""What is left of an answer whose mathematics is right, all on one card: a line for each kind."""

from __future__ import annotations

import re

from graders.judge import budgets, listing
from graders.judge.correctness import LIKEWISE, OR
from graders.judge.results import Outcome, Result
from graders.sandbox.submission import NOT_TESTED

BY_DTYPE = re.compile(r" (float|int|uint|bool)\d*(?=[,)]|$)")
COSTS = (*budgets.NOUNS.values(), "runs of one line", "the call")  # of which a message about one speaks first
NO_RESULT = "got a result"  # in the message of a refusal that is missing
NO_END = re.compile(r"should raise \w+( or \w+)?, but ")  # as that of one begins that hangs or ends its process


def left_over(result: Result) -> list[tuple[str, str]]:
    """Label and text of each row: bad arguments, then edges, then cost, then what was not tested."""
    given_up = [one for one in result.failures if one.given_up]
    refusals = [one for one in result.failures if one.category == "contract" and not one.given_up]
    through = [one for one in refusals if NO_RESULT in (one.message or "")]
    rows = []
    if through:
        kinds = "a kind of call that" if len(through) == 1 else f"{len(through)} kinds of calls that each"
        lines = [f"{kinds} should raise ValueError", *map(call_of, through)]
        rows.append(("lets through", "\n".join(lines)))
    for one in refusals:
        if one not in through:
            label = "no error" if NO_END.match(fact_of(one)) else "wrong error"
            rows.append((label, f"{call_of(one)}: {fact_of(one)}"))
    edges = edges_of(result)
    for one in edges:
        label = "on a GPU" if one.on_gpu else "too dear" if is_dear(one) else "edge"
        rows.append((label, f"{case_of(one)}: {one.message}"))
        if one is edges[0]:
            call, code = listing.split(one.call)
            code = listing.folded(code, one.message or "")
            rows += [row for row in (("call", call), ("given", one.given), ("code", code)) if row[1]]
    since = dict.fromkeys((one.message or "").removeprefix(NOT_TESTED) for one in given_up)
    count = f"{len(given_up)} check{'s' * (len(given_up) > 1)}"
    return rows + [("not tested", f"{count}, since {'; '.join(since)}")] * bool(given_up)


def is_dear(failure: Outcome) -> bool:
    """Whether it is the cost that is wrong: a large call may also give wrong values, or change its inputs."""
    return failure.category == "performance" and (failure.message or "").startswith(COSTS)


def edges_of(result: Result) -> list[Outcome]:
    """All other failures, the first of each case; what fails only by another's failure says the same fact again."""
    found: dict[str, Outcome] = {}
    for one in sorted(result.failures, key=lambda failed: failed.order):
        seen = one.category == "contract" or one.given_up
        if not seen and fact_of(one) not in map(fact_of, found.values()):
            found.setdefault(case_of(one), one)
    return [*found.values()]


def repeats(result: Result) -> list[Outcome]:
    """The failures, refusals apart, that say the fact of an earlier one again: one error fails several checks."""
    facts, again = set[str](), []
    for one in sorted(result.failures, key=lambda failed: failed.order):
        if one.category != "contract" and fact_of(one) in facts:
            again.append(one)
        facts.add(fact_of(one))
    return again


def case_of(outcome: Outcome) -> str:
    """robustness/large_mean/float64 -> large_mean, performance/many_rows/memory -> many_rows/memory."""
    parts = outcome.name.split("/")
    return "/".join(parts[1:] if outcome.category == "performance" else parts[1:2])


def call_of(refusal: Outcome) -> str:
    """`not_the_end: x[3, 4, 5], normalized_shape=[4] · normalized_shape=[6] and 9 more`; of a module, its last call."""
    call = refusal.call.partition("  # ")[0].partition("(")[2].removesuffix(")")
    made, _, called = call.partition(")(")  # of a module
    first = BY_DTYPE.sub("", called or made)
    calls = OR.join(filter(None, (first, (refusal.message or "").partition(LIKEWISE)[2])))
    return f"{case_of(refusal)}: {calls}"


def fact_of(outcome: Outcome) -> str:
    """A message without its subject."""
    message = outcome.message or ""
    return (message.partition(": ")[2] or message).partition(LIKEWISE)[0]
