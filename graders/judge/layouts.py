"""Values in other strides: scattered, as columns of a wider table, expanded where a tensor repeats itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graders.kata.compare import bits


def expanded(value: Any, lay_out: Callable[[Any], Any]) -> Any:
    """The values laid out, and of no more than one along each axis where a tensor repeats itself."""
    if not isinstance(value, Tensor):
        return value
    once = value
    for axis in range(value.dim()):
        first = once.narrow(axis, 0, 1) if value.shape[axis] > 1 else once
        once = first if torch.equal(bits(first.expand_as(once)), bits(once)) else once
    return lay_out(once).expand(value.shape)


def repeated(value: Tensor) -> Tensor:
    """Its first values along the last axis, again and again; in the strides of a new tensor."""
    return value.narrow(-1, 0, 1).expand(value.shape).clone(memory_format=torch.contiguous_format)


def scattered(value: Any) -> Any:
    """The values laid out so that no two neighbours are neighbours in memory."""
    if not isinstance(value, Tensor) or value.numel() < 2:
        return value
    turned = value.transpose(0, -1).contiguous()
    return torch.stack([turned, turned], dim=-1)[..., 0].transpose(0, -1)


def sliced(value: Any) -> Any:
    """The values as some columns of a wider table; a vector has none, and is scattered."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        return scattered(value)
    return torch.cat([value, value], dim=-1)[..., : value.shape[-1]]
