"""What went into a failing call: small inputs whole, of a large one the row that is wrong."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import THE_OUTPUT, leaves_of

MOST_NUMBERS = 12  # of a tensor that is shown whole, or of a row
MOST_INPUTS = 4
DIGITS = 6
ALL_DIGITS = 8  # of float32
PLACE = re.compile(r"at \[(\d+)[\],]")  # of the worst number, in a message


def given_in_words(request: Request, reply: Reply, message: str) -> str:
    """`x = [0.5, -1]`, `logits[3] = [1000, 0, 0]`, a line for each input of a call in the simplest way.

    A row is shown of an input that has as many as what is wrong: of another, the same row would be a false trail.
    """
    if request.unusual or request.measured:
        return ""
    found, lines = PLACE.search(message), []
    rows = rows_of_what_is_wrong(reply, message) if found else 0
    for name, value in (request.arguments or {}).items():
        if not isinstance(value, Tensor) or not value.dim():
            continue
        where, shown = name, value
        if found and value.numel() > MOST_NUMBERS and int(found[1]) < len(value) == rows:
            where, shown = f"{name}[{found[1]}]", value[int(found[1])]
        if 0 < shown.numel() <= MOST_NUMBERS:
            lines.append(f"{where} = {numbers(shown)}")
    return "\n".join(lines[:MOST_INPUTS])


def rows_of_what_is_wrong(reply: Reply, message: str) -> int:
    """Of the result, or of the gradient, that the message begins with; 0 if it begins with neither."""
    values = {f"values of {where}": leaf for where, leaf in leaves_of(reply.result).items() if where != THE_OUTPUT}
    gradients = {f"gradient of {name}": leaf for name, leaf in reply.gradients.items()}
    named = [one for name, one in (values | gradients).items() if message.startswith((f"{name}:", f"{name} ("))]
    wrong = named[0] if named else reply.result if message.startswith("values") else None
    return len(wrong) if isinstance(wrong, Tensor) and wrong.dim() else 0


def numbers(value: Tensor) -> str:
    if value.dim():
        return f"[{', '.join(map(numbers, value))}]"
    number = value.item()
    if not value.is_floating_point() or not torch.isfinite(value):
        return str(number)
    rounded = f"{number:.{DIGITS}g}"
    return rounded if float(rounded) != round(number) else f"{number:.{ALL_DIGITS}g}"  # 0.99999994 is below 1
