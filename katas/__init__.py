"""One folder for each topic, and in it one for each kata."""

from __future__ import annotations

from typing import Any


def inputs(kata: str, case: str, seed: int = 1) -> list[dict[str, Any]]:
    """The arguments of each call of a case, as an answer gets them when it is graded: `inputs("softmax", "one_axis")`.

    For a file of your own that `nox -s run` runs. Raises: UsageError where there is no such kata or case.
    """
    from graders.desk.run import inputs_of

    return inputs_of(kata, case, seed)
