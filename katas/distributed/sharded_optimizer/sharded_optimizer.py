"""Adam with sharded state. Statement: katas/distributed/sharded_optimizer/README.md."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


class ShardedAdam:
    """Adam on the mean over ranks of the gradients; each rank keeps the moments of 1/W of each parameter.

    m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  p ← p − lr · m̂ / (√v̂ + ε)

    Here m̂ = m / (1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ), in the t-th step of a parameter, from t = 1.

    Args:
        comm: has rank, world_size, reduce_scatter(tensors), all_gather(tensor).
        params: the tensors to be trained, one or more, equal on all ranks.
        lr, eps: 0 or more.
        betas: β₁ and β₂, each at least 0 and below 1.
    Raises: ValueError if there are no params, or an option is out of its range.
    Source: ZeRO (arXiv:1910.02054), section 5.1, the stage P_os.
    """

    def __init__(
        self,
        comm: Any,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        # TODO: keep the parameters and the options, and m, v and t of this rank's part of each parameter.
        # TODO: then make it robust: read params once; refuse options that are out of range.
        raise NotImplementedError

    def chunks(self, x: Tensor) -> list[Tensor]:
        """A tensor's numbers, in a chunk for each rank."""
        # TODO: flatten and cut; W need not divide the number of elements.
        raise NotImplementedError

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, in its own memory, alike on all ranks."""
        # TODO: for each parameter with a gradient, get the mean gradient of this rank's chunk, and no other.
        # TODO: update this chunk's moments, and find its new numbers.
        # TODO: gather all ranks' chunks, and copy them into the parameter.
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # TODO: forget the gradients.
        raise NotImplementedError
