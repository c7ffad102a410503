"""What went into a failing call: small inputs whole, of a large one the row that is wrong."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from graders.sandbox.messages import Request

MOST_NUMBERS = 12  # of a tensor that is shown whole, or of a row
MOST_INPUTS = 3
DIGITS = 6
ALL_DIGITS = 8  # of float32
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
