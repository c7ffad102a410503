"""One folder for each topic, and in it one for each kata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def inputs(kata: str, case: str, seed: int = 1) -> list[dict[str, Any]]:
    """The arguments of each call of a case, as an answer gets them when it is graded: `inputs("softmax", "one_axis")`.

    For a file of your own that `nox -s run` runs. Raises: UsageError where there is no such kata or case.
    """
    from graders.desk.run import inputs_of

    return inputs_of(kata, case, seed)


def on_ranks(scenario: Callable[..., Any], *, ranks: list[int], **given: Any) -> dict[str, Any]:
    """What a case's function returns on each of several ranks, which have their turns in this order.

    As when it is graded, but all ranks have one module, and nothing is isolated.
    """
    from graders.desk.run import played_here

    return played_here(scenario, ranks, given)
