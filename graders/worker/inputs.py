"""The inputs of a call: put into the places and kinds that it is made with, and looked at after it. Runs in the worker.

The rule at the top of calls.py holds here.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from graders.worker.described import BASE, dtype_of, is_tensor, results_of, shape_of
from graders.worker.fortress.outside import Step
from graders.worker.protocol import CallRequest

version_of = BASE.__dict__["_version"].__get__
BITS = {8: torch.int64, 4: torch.int32, 2: torch.int16}  # by the bytes of a floating number
full_like, cat, make_subclass = torch.full_like, torch.cat, Tensor._make_subclass
inference_mode: Any = torch._C._InferenceMode  # which begins when it is made, and ends with it


def prepare_inputs(request: CallRequest, tensors: list[Tensor]) -> None:
    """Puts inputs of the kind that the call is made with in their places."""
    ways = request["ways"]
    for index in {*request["watched"].values()} if ways else ():
        inference = "inference" in ways and index not in request["leaves"].values()
        if inference or "part" in ways:
            tensors[index] = copied(tensors[index], "part" in ways, inference)
        if "parameters" in ways and BASE.is_floating_point(tensors[index]):
            tensors[index] = make_subclass(Parameter, tensors[index], False)


def copied(tensor: Tensor, part: bool, inference: bool) -> Tensor:
    """A copy with its values and strides, perhaps behind as many others, perhaps made under inference_mode."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(shape_of(tensor), BASE.stride(tensor), strict=True))
    memory = BASE.as_strided(tensor, (span if BASE.numel(tensor) else 0,), (1,))
    step: Step = partial(cat, (full_like(memory, 7), memory)) if part else partial(BASE.clone, memory)
    begin, end = under_inference()
    whole = results_of(begin, step, end)[1] if inference else step()
    return BASE.as_strided(whole, shape_of(tensor), BASE.stride(tensor), BASE.numel(memory) if part else 0)


def under_inference() -> tuple[Step, Step]:
    """Two steps, between which inference_mode is on."""
    holder: list[Any] = []
    return partial(holder.extend, map(inference_mode, (True,))), holder.clear


def version(tensor: Tensor) -> int:
    """How often it was written to; of what was made under inference_mode nobody knows."""
    return 0 if BASE.is_inference(tensor) else version_of(tensor)


def is_without_hooks(hooks: Any) -> bool:
    """None, or what torch leaves where they were removed again."""
    return hooks is None or (type(hooks) is OrderedDict and not dict.__len__(hooks))


def same_values(one: Tensor, other: Tensor) -> bool:
    """Whether it still is what it was, bit for bit."""
    same_kind = is_tensor(one) and dtype_of(one) == dtype_of(other) and shape_of(one) == shape_of(other)
    if same_kind and BASE.is_floating_point(one):
        whole = BITS[BASE.element_size(one)]
        one, other = BASE.view(BASE.detach(one), whole), BASE.view(other, whole)
    return same_kind and BASE.equal(one, other)
