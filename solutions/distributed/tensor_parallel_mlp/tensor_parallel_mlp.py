"""A tensor-parallel MLP. Statement: katas/distributed/tensor_parallel_mlp/README.md."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class CopyIn(torch.autograd.Function):
    """x forward; backward, the sum over ranks of their gradients, of which each has only a part."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, comm: Any) -> Tensor:
        """x, as it is."""
        # --- solution
        # TODO: keep comm in ctx, and return a view of x.
        ctx.comm = comm
        return x.view_as(x)
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        """A gradient for each argument of forward."""
        # --- solution
        # TODO: what do the other ranks know of this gradient?
        return ctx.comm.all_reduce(grad), None
        # --- end


class SumOut(torch.autograd.Function):
    """The sum over ranks forward; backward, the gradient as it is, since every rank has all of it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, comm: Any) -> Tensor:
        """The sum of all ranks' x."""
        # --- solution
        # TODO: one all_reduce.
        total: Tensor = comm.all_reduce(x)
        return total
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        """A gradient for each argument of forward."""
        # --- solution
        # TODO: what is the gradient with respect to this rank's part of the sum?
        return grad, None
        # --- end


class TensorParallelMLP(nn.Module):
    """y = GELU(x W₁ᵀ + b₁) W₂ᵀ + b, of which each rank has hidden_dim / W of the hidden units.

    Args:
        comm: has rank, world_size, all_reduce(tensor).
        embed_dim: D, of x and y.
        hidden_dim: of all ranks together; W divides it.
    Raises: ValueError if W does not divide hidden_dim.
    Source: Megatron-LM (arXiv:1909.08053), section 3, whose f is CopyIn and whose g is SumOut.
    """

    def __init__(self, comm: Any, embed_dim: int, hidden_dim: int) -> None:
        # --- solution
        # TODO: fc1, an nn.Linear; fc2, without a bias; bias, a parameter of shape (embed_dim,).
        super().__init__()
        if hidden_dim % comm.world_size:
            raise ValueError(f"hidden_dim should be divisible by the {comm.world_size} ranks, got {hidden_dim}")
        self.comm = comm
        self.fc1 = nn.Linear(embed_dim, hidden_dim // comm.world_size)
        self.fc2 = nn.Linear(hidden_dim // comm.world_size, embed_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed_dim))
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Maps (…, D) to (…, D); every rank gets the same x and returns the same y."""
        # --- solution
        # TODO: hidden units of this rank; their part of the output; the sum over ranks; the bias, once.
        hidden = F.gelu(self.fc1(CopyIn.apply(x, self.comm)))  # (…, hidden_dim / W)
        total: Tensor = SumOut.apply(self.fc2(hidden), self.comm)
        return total + self.bias
        # --- end
