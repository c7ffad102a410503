"""A call, and what is wrong with its reply, in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.judge.correctness import same_leaf
from graders.judge.expected import Expected
from graders.judge.given import numbers
from graders.kata.compare import at, first_index, mismatch_mask
from graders.kata.tolerances import Tolerance
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import THE_OUTPUT, Leaf, in_words, leaves_of, other_form

MOST_NUMBERS = 12  # of a result that is shown whole
EVER_MORE = (3, 6, 9, 17)  # digits, until two numbers look different


@dataclass(frozen=True, eq=False)
class Wrong:
    """In which way a reply is wrong, and how to tell that."""

    way: str
    told: Callable[[], str]


def difference(reply: Reply, expected: Expected, gradients: bool, tolerance: Tolerance) -> Wrong | None:
    """Of the results, or of the gradients alone; None where there is none."""
    if raised := reply.raised:
        return Wrong(raised.type, lambda: f"raises {raised.type}, should return")
    if form := other_form(reply.result, expected.result):
        place, *there = form
        return Wrong("form", lambda: "gives {}{}, should be {}".format(named_place(place), *map(in_words, there)))
    got: Mapping[str, Any] = reply.gradients if gradients else leaves_of(reply.result, like=expected.result)
    for where, right in (expected.gradients if gradients else expected.leaves).items():
        one = got.get(where)
        if one is None and isinstance(right, Tensor):  # a gradient that does not flow
            one = torch.zeros_like(right)
        try:
            same_leaf("", "", one, right, tolerance)
        except CheckFailed:
            return wrong_leaf(f"{where}.grad" if gradients else where, one, right, tolerance)
    return None


def wrong_leaf(where: str, got: Leaf, right: Leaf, tolerance: Tolerance) -> Wrong:
    def told() -> str:
        return "gives {}{}, should be {}".format(named_place(where), *both_in_brief(got, right, tolerance))

    shapes = {leaf.shape for leaf in (got, right) if isinstance(leaf, Tensor)}
    return Wrong("shape" if len(shapes) == 2 else "values", told)


def named_place(where: str) -> str:
    return "" if where == THE_OUTPUT else f"{where} = "


def call_in_brief(request: Request) -> str:
    """`Affine(width=1)(x=[[1]]) with all parameters 1`"""
    init, call = request.constructor_arguments, f"({named(request.arguments or {})})"
    made = "" if init is None else f"({named(init)})"
    return f"{request.target}{made}{call if request.arguments is not None else ''}{with_parameters(request.parameters)}"


def named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value_in_brief(value)}" for name, value in values.items())


def value_in_brief(value: Any) -> str:
    return numbers(value) if isinstance(value, Tensor) else f"{value:g}" if type(value) is float else repr(value)


def with_parameters(parameters: Mapping[str, Tensor]) -> str:
    """Those that are the same number everywhere, as most are, share a word."""
    if not parameters:
        return ""
    only = {name: {*value.flatten().tolist()} for name, value in parameters.items()}
    ((most, count),) = Counter(map(frozenset, only.values())).most_common(1)
    if len(most) > 1 or count == 1:
        return f" with {named(parameters)}"
    others = {name: value for name, value in parameters.items() if only[name] != most}
    return f" with {named(others)}{', other' if others else 'all'} parameters {next(iter(most)):g}"


def both_in_brief(got: Any, right: Any, tolerance: Tolerance) -> tuple[str, str]:
    """What came and what should have; of a large tensor the first number that is wrong."""
    where = ""
    if isinstance(got, Tensor) and isinstance(right, Tensor):
        got, right = got.double(), right.double()
        if max(got.numel(), right.numel()) > MOST_NUMBERS:
            if got.shape != right.shape:
                return f"shape {tuple(got.shape)}", f"{tuple(right.shape)}"
            wrong = mismatch_mask(got, right, tolerance)
            index = first_index(wrong if wrong.any() else got != right)  # whole numbers should be equal
            where, got, right = at(index, got), got[index], right[index]
    for digits in EVER_MORE:
        one, other = rounded(got, digits), rounded(right, digits)
        if one != other:
            break
    return f"{one}{where}", other


def rounded(value: Any, digits: int) -> str:
    if isinstance(value, Tensor):
        return f"[{', '.join(rounded(one, digits) for one in value)}]" if value.dim() else rounded(value.item(), digits)
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else repr(value)  # a zero without its sign
