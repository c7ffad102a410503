"""What went into a failing call: small inputs whole, of a large one the row that is wrong; and the call as Python."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from graders.kata.tolerances import HALF, dtype_name
from graders.sandbox.messages import Request

MOST_NUMBERS = 12  # of a tensor that is shown whole, or of a row
MOST_INPUTS = 3
DIGITS = 6
ALL_DIGITS = 8  # of float32
MOST_WRITTEN = 128  # numbers of a tensor that is written as Python
USUAL = (torch.float32, torch.int64, torch.bool)  # which Python's numbers become
PLACE = re.compile(r"at \[(\d+)[\],]")  # of the worst number, in a message


def given_in_words(request: Request, message: str) -> str:
    """`x = [0.5, -1]`, `logits[3] = [1000, 0, 0]`, a line for each input of a call in the simplest way."""
    if request.unusual or request.measured:
        return ""
    found = PLACE.search(message)
    lines = []
    for name, value in (request.arguments or {}).items():
        if not isinstance(value, Tensor) or not value.dim():
            continue
        where, shown = name, value
        if found and value.numel() > MOST_NUMBERS and int(found[1]) < len(value):
            where, shown = f"{name}[{found[1]}]", value[int(found[1])]
        if 0 < shown.numel() <= MOST_NUMBERS:
            lines.append(f"{where} = {numbers(shown)}")
    return "\n".join(lines[:MOST_INPUTS])


def numbers(value: Tensor) -> str:
    if value.dim():
        return f"[{', '.join(map(numbers, value))}]"
    number = value.item()
    if not value.is_floating_point() or not torch.isfinite(value):
        return str(number)
    rounded = f"{number:.{DIGITS}g}"
    return rounded if float(rounded) != round(number) else f"{number:.{ALL_DIGITS}g}"  # 0.99999994 is below 1


def given_as_code(request: Request, gradients: bool) -> str:
    """The call as Python that makes it again; a comment that says why not where there is none.

    `gradients` says whether these are asked for also. A way in which it is made otherwise than in the simplest one
    stands in a comment.
    """
    given, init = request.arguments or {}, request.constructor_arguments
    tensors = [value for value in (*given.values(), *request.parameters.values()) if isinstance(value, Tensor)]
    if request.measured or any(one.numel() > MOST_WRITTEN for one in tensors):
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
