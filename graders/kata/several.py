"""Several calls that are asked and compared as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from graders.kata.spec import Arguments, Submission


def kinds(
    submission: Submission,
    scenario: Callable[..., Any],
    calls: Sequence[Arguments],
    kind: Callable[..., int],
    like: Callable[[Arguments], Any],
    **more: Any,
) -> list[int]:
    """How wrong each call's result is, by `kind` of its arguments and of what came back; 0 is right.

    The scenario gets the tensors of the first call with a 0 after their names, and so on, and gives back a list of
    lists. Of two answers, the diagnosis minds only how wrong the worst result is: where rounding or the last step of a
    search decides in which calls a mistake shows, and how much, two that make the same mistake differ in all else.
    """
    seen = list[list[int]]()

    def worst(found: Any) -> int:
        seen.append([kind(call, *result) for call, result in zip(calls, found, strict=True)])
        return max(seen[-1])

    tensors = {
        f"{name}{i}": one for i, call in enumerate(calls) for name, one in call.items() if isinstance(one, Tensor)
    }
    submission.run(scenario, like=[like(call) for call in calls], summary=worst, **more, **tensors)
    return seen[0]
