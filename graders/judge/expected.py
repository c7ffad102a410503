"""What should come back from a request; an oracle's result is refused where no submission could give it back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graders.faults import CheckFailed, GraderError
from graders.kata.compare import same_dtype, same_shape
from graders.sandbox.returned import (
    DEEPEST,
    MOST_ITEMS,
    THE_OUTPUT,
    Leaf,
    Returned,
    in_words,
    leaves_of,
    other_form,
)


@dataclass(frozen=True)
class Expected:
    """What should come back from one request, and the cotangents that its gradients are pulled back from."""

    result: Returned  # tensors in it are detached, and in float64 where they are floating
    cotangents: tuple[Tensor, ...]
    gradients: dict[str, Tensor]
    learning: tuple[str, ...]  # the tensors that require grad, by where they stand

    @functools.cached_property
    def leaves(self) -> dict[str, Leaf]:
        """By where they stand in the result."""
        return leaves_of(self.result)


def refuse_result(case: str, made: Any, depth: int = 0) -> None:
    """Raises: GraderError where an oracle, or a scenario with it, returned what no submission could give back."""
    found, items = "", [*made.values()] if isinstance(made, dict) else made
    if isinstance(made, tuple | list | dict):
        if depth == DEEPEST or len(items) > MOST_ITEMS:
            found = f"{len(items):,} items" if len(items) > MOST_ITEMS else f"more than {DEEPEST} levels"
        elif isinstance(made, dict) and not all(isinstance(key, str) for key in made):
            found = "a dict whose keys are no texts"
        for item in items[:MOST_ITEMS] if not found else ():
            refuse_result(case, item, depth + 1)
    elif not (made is None or isinstance(made, Tensor | int | float | str)):
        found = type(made).__name__
    if found:
        raise GraderError(
            f"the oracle's result of {case} should be tensors, numbers, texts, and tuples, lists and dicts of such, "
            f"at most {DEEPEST} levels deep, of at most {MOST_ITEMS:,} items, and with texts for keys; it has {found}"
        )


def detached(made: Any) -> Returned:
    """A result without the graph that it was computed by."""
    if isinstance(made, dict):
        return {key: detached(item) for key, item in made.items()}
    if isinstance(made, tuple | list):
        return type(made)(map(detached, made))
    return made.detach() if isinstance(made, Tensor) else made


def same_form(result: Returned, wanted: Returned) -> None:
    """Tuples, lists, dicts and kinds of leaves should stand in the same places. Raises: CheckFailed."""
    differs = other_form(result, wanted)
    if differs:
        where, got, right = differs
        where = "the result" if where == THE_OUTPUT else where
        raise CheckFailed(f"{where}: should be {in_words(right)}, got {in_words(got)}")


def same_tensors(result: Returned, wanted: Returned, dtypes: Callable[[Tensor], tuple[torch.dtype, ...]]) -> None:
    """Shape and dtype of each tensor, in results of one form. Raises: CheckFailed."""
    got = leaves_of(result, like=wanted)
    for where, right in leaves_of(wanted).items():
        one = got[where]
        if isinstance(right, Tensor) and isinstance(one, Tensor):
            same_shape(where, one, right)
            same_dtype(where, one, dtypes(right))
