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
        # --- solution
        # TODO: keep the parameters and the options, and m, v and t of this rank's part of each parameter.
        # TODO: then make it robust: read params once; refuse options that are out of range.
        self.comm, self.params = comm, list(params)
        if not self.params:
            raise ValueError("params should hold at least one tensor, got none")
        if lr < 0 or eps < 0:
            raise ValueError(f"lr and eps should be at least 0, got {lr} and {eps}")
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas should be at least 0 and below 1, got {betas}")
        self.lr, self.betas, self.eps = lr, betas, eps
        own = [self.chunks(p)[comm.rank] for p in self.params]
        self.m = [torch.zeros_like(one) for one in own]
        self.v = [torch.zeros_like(one) for one in own]
        self.t = [0] * len(self.params)
        # --- end

    def chunks(self, x: Tensor) -> list[Tensor]:
        """A tensor's numbers, in a chunk for each rank."""
        # --- solution
        # TODO: flatten and cut; W need not divide the number of elements.
        return list(x.detach().flatten().tensor_split(self.comm.world_size))
        # --- end

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, in its own memory, alike on all ranks."""
        # --- solution
        # TODO: for each parameter with a gradient, get the mean gradient of this rank's chunk, and no other.
        # TODO: update this chunk's moments, and find its new numbers.
        # TODO: gather all ranks' chunks, and copy them into the parameter.
        beta1, beta2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = self.comm.reduce_scatter(self.chunks(p.grad)) / self.comm.world_size
            self.t[i] += 1
            m = self.m[i].mul_(beta1).add_((1 - beta1) * g)
            v = self.v[i].mul_(beta2).add_((1 - beta2) * g.square())
            m_hat = m / (1 - beta1 ** self.t[i])
            v_hat = v / (1 - beta2 ** self.t[i])
            own = self.chunks(p)[self.comm.rank] - self.lr * m_hat / (v_hat.sqrt() + self.eps)
            whole = torch.cat(self.comm.all_gather(own))
            p.copy_(whole.view(p.shape))
        # --- end

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # --- solution
        # TODO: forget the gradients.
        for p in self.params:
            p.grad = None
        # --- end
