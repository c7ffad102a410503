"""What a submission keeps from one call for the next, where it should not: a call that failed is right all alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from graders.faults import CheckFailed
from graders.judge.agreement import Agreement, agree
from graders.judge.standard import Known
from graders.sandbox.dialogue import Home
from graders.sandbox.messages import Reply, Request
from graders.sandbox.submission import WHOLE_SECONDS, Submission

KEPT_BETWEEN_CALLS = Known(
    "kept_between_calls",
    "",
    "made alone, this call gives the right result, so something is kept from an earlier call; make it anew in each "
    "call, or at least when the dtype, the device, a size or another argument has changed",
)


def kept_between(
    both: Agreement, reference: Submission, failing: Submission, suspects: Mapping[int, tuple[bool, int]]
) -> list[Known]:
    """That something is kept between calls, where the first one that failed is right all alone."""
    asked = [one for one in failing.replies.values() if id(one[0]) in suspects and not one[0].measured]
    if not asked or failing.seconds >= WHOLE_SECONDS:
        return []
    request, reply = min(asked, key=lambda one: suspects[id(one[0])])
    if reply.died or reply.cut_short:
        return []
    tolerance = both.tolerance(request, reply)
    before = itertools.takewhile(lambda one: one is not request, (one for one, _ in failing.replies.values()))
    calls = [*(one for one in before if not one.measured), request]
    try:
        right = reference.ask(request)
        if agree(right, reply, tolerance) or not agree(again(failing, [request])[0], right, tolerance):
            return []
        for _ in range(2):  # what is random is not the same
            wrong, alone = again(failing, calls)
            if not agree(wrong, reply, tolerance) or not agree(alone, right, tolerance):
                return []
    except CheckFailed:
        return []
    return [KEPT_BETWEEN_CALLS]


def again(submission: Submission, asked: list[Request]) -> tuple[Reply, Reply]:
    """What it replies to the last of these calls in a new process, and then a copy of it to that call alone.

    The copy has kept nothing, but its memory is not new: some functions of torch's read what others left there.

    Raises: CheckFailed.
    """
    home = Home()
    one, copy = (
        Submission(submission.source, submission.names, submission.launcher, submission.banned, home) for _ in range(2)
    )
    one.seconds = submission.seconds  # it is the same file, which has one clock
    try:
        replies = [one.ask(request) for request in asked]
        copy.seconds = one.seconds
        return replies[-1], copy.ask(asked[-1])
    finally:
        submission.seconds = max(one.seconds, copy.seconds)
        home.close()
