"""Matrix products and their gradients by hand. Statement: katas/foundations/matmul_backward/README.md."""

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor


class MatMul(torch.autograd.Function):
    """c = a b,  ∂L/∂a = ∂L/∂c bᵀ,  ∂L/∂b = aᵀ ∂L/∂c, each summed over the axes along which its matrix was broadcast."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        """
        Args:
            a, b: (…, m, k) and (…, k, n), whose batch axes broadcast.
        Returns: a b, (…, m, n).
        Raises: ValueError if a or b has fewer than two axes, or if their shapes do not fit.
        """
        # TODO: refuse fewer than two axes, inner sizes that differ, and batch axes that do not broadcast.
        # TODO: multiply, and keep what backward needs, with ctx.save_for_backward.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """
        Args:
            grad_output: (…, m, n), ∂L/∂c.
        Returns: ∂L/∂a and ∂L/∂b, in the shapes of a and b; None for one that nobody needs.
        """
        # TODO: find the gradient of each matrix that ctx.needs_input_grad asks for.
        # TODO: sum it over the axes along which that matrix was broadcast. Does it have the matrix's shape?
        raise NotImplementedError


def chain_matmul(matrices: list[Tensor]) -> Tensor:
    """M₁ M₂ … M_k

    Args:
        matrices: k ≥ 1 matrices, each (…, n, n), all of one shape.
    Returns: (…, n, n).
    Raises: ValueError if the list is empty, or if the shapes differ.
    """
    # TODO: refuse an empty list, and shapes that differ.
    # TODO: multiply from left to right.
    raise NotImplementedError


def chain_matmul_backward(grad_output: Tensor, matrices: list[Tensor]) -> list[Tensor]:
    """∂L/∂M_i = (M₁ … M_{i−1})ᵀ G (M_{i+1} … M_k)ᵀ for each i, where G = ∂L/∂(M₁ … M_k)

    Args:
        grad_output: (…, n, n), G.
        matrices: k ≥ 1 matrices, each (…, n, n), all of one shape.
    Returns: k gradients, each (…, n, n), in the order of the matrices.
    Raises: ValueError if the list is empty, or if the shapes differ.
    """
    # TODO: refuse what chain_matmul refuses.
    # TODO: find the products of what stands before each matrix, and of what stands after it, each from its neighbour.
    # TODO: return the gradient of each matrix.
    raise NotImplementedError
