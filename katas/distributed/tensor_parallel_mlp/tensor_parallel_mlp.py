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
        # TODO: keep comm in ctx, and return a view of x.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        """A gradient for each argument of forward."""
        # TODO: what do the other ranks know of this gradient?
        raise NotImplementedError


class SumOut(torch.autograd.Function):
    """The sum over ranks forward; backward, the gradient as it is, since every rank has all of it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, comm: Any) -> Tensor:
        """The sum of all ranks' x."""
        # TODO: one all_reduce.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        """A gradient for each argument of forward."""
        # TODO: what is the gradient with respect to this rank's part of the sum?
        raise NotImplementedError


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
        # TODO: fc1, an nn.Linear; fc2, without a bias; bias, a parameter of shape (embed_dim,).
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Maps (…, D) to (…, D); every rank gets the same x and returns the same y."""
        # TODO: hidden units of this rank; their part of the output; the sum over ranks; the bias, once.
        raise NotImplementedError
