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
        # --- solution
        # TODO: refuse fewer than two axes, inner sizes that differ, and batch axes that do not broadcast.
        # TODO: multiply, and keep what backward needs, with ctx.save_for_backward.
        if a.dim() < 2 or b.dim() < 2:
            raise ValueError(f"a and b should have two axes or more, got {tuple(a.shape)} and {tuple(b.shape)}")
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(f"inner sizes should be equal, got {a.shape[-1]} of a and {b.shape[-2]} of b")
        for one, other in zip(a.shape[-3::-1], b.shape[-3::-1], strict=False):
            if one != other and 1 not in (one, other):
                raise ValueError(f"batch axes should broadcast, got {tuple(a.shape[:-2])} and {tuple(b.shape[:-2])}")
        ctx.save_for_backward(a, b)
        return a @ b
        # --- end

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """
        Args:
            grad_output: (…, m, n), ∂L/∂c.
        Returns: ∂L/∂a and ∂L/∂b, in the shapes of a and b; None for one that nobody needs.
        """
        # --- solution
        # TODO: find the gradient of each matrix that ctx.needs_input_grad asks for.
        # TODO: sum it over the axes along which that matrix was broadcast. Does it have the matrix's shape?
        a, b = ctx.saved_tensors
        d_a = d_b = None
        if ctx.needs_input_grad[0]:
            d_a = (grad_output @ b.mT).sum_to_size(a.shape)  # (…, m, k)
        if ctx.needs_input_grad[1]:
            d_b = (a.mT @ grad_output).sum_to_size(b.shape)  # (…, k, n)
        return d_a, d_b
        # --- end


def chain_matmul(matrices: list[Tensor]) -> Tensor:
    """M₁ M₂ … M_k

    Args:
        matrices: k ≥ 1 matrices, each (…, n, n), all of one shape.
    Returns: (…, n, n).
    Raises: ValueError if the list is empty, or if the shapes differ.
    """
    # --- solution
    # TODO: refuse an empty list, and shapes that differ.
    # TODO: multiply from left to right.
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) != 1:
        raise ValueError(f"matrices should be one or more, all of one shape, got {shapes or 'none'}")
    *_, product = accumulate(matrices, torch.matmul)
    return product
    # --- end


def chain_matmul_backward(grad_output: Tensor, matrices: list[Tensor]) -> list[Tensor]:
    """∂L/∂M_i = (M₁ … M_{i−1})ᵀ G (M_{i+1} … M_k)ᵀ for each i, where G = ∂L/∂(M₁ … M_k)

    Args:
        grad_output: (…, n, n), G.
        matrices: k ≥ 1 matrices, each (…, n, n), all of one shape.
    Returns: k gradients, each (…, n, n), in the order of the matrices.
    Raises: ValueError if the list is empty, or if the shapes differ.
    """
    # --- solution
    # TODO: refuse what chain_matmul refuses.
    # TODO: find the products of what stands before each matrix, and of what stands after it, each from its neighbour.
    # TODO: return the gradient of each matrix.
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) != 1:
        raise ValueError(f"there should be one matrix or more, all of one shape, got {shapes or 'none'}")
    before = [*accumulate(matrices[:-1], torch.matmul)]  # M₁, M₁ M₂, …, each (…, n, n)
    after = [*accumulate(matrices[:0:-1], lambda product, one: one @ product)][::-1]  # M₂ … M_k, …, M_k
    upstream = [*(grad_output @ product.mT for product in after), grad_output]  # of M₁, M₁ M₂, …, M₁ … M_k
    return [upstream[0], *(before[i].mT @ upstream[i + 1] for i in range(len(before)))]
    # --- end
