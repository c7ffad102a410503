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
    # --- solution
    # TODO: run the function without keeping what is inside; remember its arguments and the state of the generator.
    # TODO: in backward, run it once more, on detached arguments and with the same random numbers.
    # TODO: go back through the second graph: to the arguments, and to parameters within the function.

    def leaf(one: Any) -> Any:
        return one.detach().requires_grad_(one.requires_grad) if isinstance(one, Tensor) else one

    class RunAgain(torch.autograd.Function):
        """Keeps the arguments alone; backward runs the function once more, and goes back through that graph."""

        @staticmethod
        def forward(ctx: Any, anchor: Tensor, function: Callable[..., Any], *args: Any) -> Any:
            ctx.set_materialize_grads(False)
            ctx.function, ctx.args = function, args
            ctx.random_state = torch.get_rng_state()
            return function(*args)  # within a Function's forward, no graph is recorded

        @staticmethod
        def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
            args = [leaf(one) for one in ctx.args]
            now = torch.get_rng_state()
            torch.set_rng_state(ctx.random_state)
            try:
                with torch.enable_grad():
                    made = ctx.function(*args)
            finally:
                torch.set_rng_state(now)
            outputs = made if isinstance(made, tuple) else (made,)
            reached = [i for i, one in enumerate(outputs) if one.requires_grad and upstream[i] is not None]
            if reached:
                torch.autograd.backward([outputs[i] for i in reached], [upstream[i] for i in reached])
            return None, None, *(one.grad if isinstance(one, Tensor) else None for one in args)

    anchor = torch.empty(0, requires_grad=True)  # even if no argument requires grad, a parameter inside may
    return RunAgain.apply(anchor, function, *args)
    # --- end
