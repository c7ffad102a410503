"""Replies of a worker's, spoilt at random: what a hostile submission could send in its place."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 2**31, 2**63, -(2**63), 10**400, 0.5, float("nan"), float("inf"), -float("inf"),
    "", "x" * 1000, "\ud800", "\x1b[2J", "\u202e", "::error::", "!", "tensor", "tuple", "NaN",
    [], [None], [[]], {}, {"tensor": 0}, {"tensor": -1}, {"tensor": True}, {"tensor": 10**9}, {"tuple": []},
    {"tuple": [{"tensor": 0}] * 1000}, {"other": []}, [0] * 500, [1] * 70, [2**40] * 4,
    json.loads("[" * 300 + "]" * 300), {str(number): 0 for number in range(500)},
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything in a JSON value."""
    found: list[tuple[Any, Any]] = []
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found += [(value, key), *places(value[key])]
    return found


def spoilt(head: bytes, chance: random.Random) -> bytes:
    """The head of a message with one to three things in it replaced, removed or added, or with other bytes."""
    if chance.random() < 0.1:
        changed = bytearray(head)
        for _ in range(3):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    message = json.loads(head)
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(message))
        change = chance.random()
        if change < 0.7:
            container[key] = copy.deepcopy(chance.choice(ODD))
        elif change < 0.85:
            del container[key]
        elif isinstance(container, list):
            container.insert(key, copy.deepcopy(chance.choice(ODD)))
        else:
            container[str(chance.choice(ODD))[:200]] = container[key]
        if not places(message):
            break
    return json.dumps(message).encode()
