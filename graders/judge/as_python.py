"""A failing call as Python that makes it again."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graders.catalogue.katas import Kata
from graders.judge.given import ALL_DIGITS, DIGITS
from graders.judge.results import Result
from graders.kata.tolerances import HALF, dtype_name
from graders.sandbox.messages import Request

MOST_WRITTEN = 128  # numbers of a tensor that is written
USUAL = (torch.float32, torch.int64, torch.bool)  # which Python's numbers become


def failing_call(result: Result, kata: Kata) -> str:
    """The one that failed first; where that cannot be written, the shortest that can, or why not."""
    calls = {
        failed.name: as_python(
            result.requests[failed.name], differentiates(kata) and "gradient" in (failed.message or "")
        )
        for failed in result.failures
        if failed.name in result.requests
    }
    first = calls.get(result.first_failure.name, "") if result.first_failure else ""
    written = [call for call in calls.values() if not call.rpartition("\n")[2].startswith("#")]
    return first if first in written else min(written, key=len, default=first)


def differentiates(kata: Kata) -> bool:
    """Whether a try may ask for gradients, in any way."""
    return "autograd" not in kata.grader.banned


def as_python(request: Request, gradients: bool) -> str:
    """The call as Python that makes it again; a comment that says why not where there is none.

    `gradients` says whether these are asked for also. A way in which it is made otherwise than in the simplest one
    stands in a comment.
    """
    given, init = request.arguments or {}, request.constructor_arguments
    tensors = [value for value in (*given.values(), *request.parameters.values()) if isinstance(value, Tensor)]
    if any(one.numel() > MOST_WRITTEN for one in tensors):
        return "# the failing call's tensors are too large to be written here"
    if "ranks" in given:
        return "# the failing call is made on several ranks, which cannot be tried here"
    lines, leaves = [f"# {request.mode}"] * bool(request.mode), [name for name in request.leaves if name in given]
    pulled = gradients and bool(request.cotangents)
    for name, value in given.items():
        if isinstance(value, Tensor):
            lines.append(f"{name} = {written(value)}{'.requires_grad_()' * (pulled and name in leaves)}")
    words = [name if isinstance(value, Tensor) else written(value) for name, value in given.items()]
    named = [f"{name}={word}" for name, word in zip(given, words, strict=True)]
    words = [*words[: request.positional], *named[request.positional :]]
    target = request.target
    if init is not None:
        made = f"{target}({', '.join(f'{name}={written(value)}' for name, value in init.items())})"
        if request.arguments is None:
            return "\n".join([*lines, made])
        target = "module"
        lines.append(f"module = {made}")
        if request.parameters:
            values = [f"    {name!r}: {written(value)}," for name, value in request.parameters.items()]
            dtype = next(iter(request.parameters.values())).dtype
            lines += [f"module.to({dtype})", "_ = module.load_state_dict({", *values, "})"]
    if request.scenario:
        lines.insert(0, f"{request.scenario.strip()}\n\n")
        words = [*request.answers, *named]
    call = f"{target}({', '.join(words)})"
    if not pulled:
        return "\n".join([*lines, call])
    lines += [f"result = {call}", f"along = [{', '.join(map(written, request.cotangents))}]"]
    lines.append("results = {tuple: list, dict: dict.values}.get(type(result), lambda one: [one])(result)")
    lines += ["for one, other in zip((one for one in results if isinstance(one, torch.Tensor)), along):"]
    lines += ["    if one.requires_grad:", "        one.backward(other, retain_graph=True)"]
    wanted = [f"{name}.grad" for name in leaves] + ["*(one.grad for one in module.parameters())"] * bool(init)
    return "\n".join([*lines, f"result, {', '.join(wanted)}"])


def written(value: Any) -> str:
    """As Python, to the last bit."""
    if isinstance(value, Tensor):
        dtype = "" if value.dtype in USUAL else f", dtype=torch.{dtype_name(value.dtype)}"
        if not value.numel():
            return f"torch.empty({tuple(value.shape)}{dtype})"
        return f"torch.tensor({written(shortest(value))}{dtype})"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return f'float("{value}")' if isinstance(value, float) and not abs(value) < float("inf") else repr(value)


def shortest(value: Tensor) -> Any:
    """Its numbers, with as few digits as give them all again in its dtype."""
    if value.dtype in (torch.float32, *HALF):
        for digits in (DIGITS, ALL_DIGITS):
            rounded = [float(f"{number:.{digits}g}") for number in value.flatten().tolist()]
            again = torch.tensor(rounded, dtype=torch.float64).view(value.shape)
            if again.to(value.dtype).equal(value):
                return again.tolist()
    return value.tolist()
