"""Gradient checkpointing by hand. Statement: katas/training/gradient_checkpointing/README.md."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """function(*args), of which nothing inside is kept for backward: backward runs the function once more

    Args:
        function: returns a tensor, or a tuple of tensors.
        args: its arguments. Gradients flow to the tensors among them, and to parameters that the function finds
            elsewhere.
    Returns: what function(*args) returns.
    Source: arXiv:1604.06174, section 3, where a network's segments are computed once more in backward.
    """
    # TODO: run the function without keeping what is inside; remember its arguments and the state of the generator.
    # TODO: in backward, run it once more, on detached arguments and with the same random numbers.
    # TODO: go back through the second graph: to the arguments, and to parameters within the function.
    raise NotImplementedError
