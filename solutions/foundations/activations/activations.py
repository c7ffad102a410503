"""Five activations by hand, forward and backward. Statement: katas/foundations/activations/README.md."""

from typing import Any

import torch
from torch import Tensor


class Sigmoid(torch.autograd.Function):
    """σ(x) = 1 / (1 + e⁻ˣ),  σ′(x) = σ(x) (1 − σ(x))."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # --- solution
        # TODO: compute σ(x) for x up to ±1000, and keep what backward needs, with ctx.save_for_backward.
        small = torch.exp(-x.abs())  # e^x or e^−x, whichever is at most 1
        sigma = torch.where(x > 0, 1, small) / (1 + small)
        ctx.save_for_backward(sigma)
        return sigma
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # --- solution
        # TODO: return the gradient of the loss with respect to x; grad is the one with respect to σ(x).
        (sigma,) = ctx.saved_tensors
        return grad * sigma * (1 - sigma)
        # --- end


class Tanh(torch.autograd.Function):
    """tanh(x) = (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ),  tanh′(x) = 1 − tanh(x)²."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # --- solution
        # TODO: compute tanh(x) for x up to ±1000, and keep what backward needs.
        small = torch.expm1(-2 * x.abs())  # e^(−2|x|) − 1
        t = -x.sign() * small / (2 + small)
        ctx.save_for_backward(t)
        return t
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # --- solution
        # TODO: return the gradient with respect to x.
        (t,) = ctx.saved_tensors
        return grad * (1 - t * t)
        # --- end


class ReLU(torch.autograd.Function):
    """relu(x) = max(0, x),  relu′(x) = 1 for x > 0, else 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # --- solution
        # TODO: compute relu(x), and keep what the backward pass needs.
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # --- solution
        # TODO: return the gradient with respect to x.
        (result,) = ctx.saved_tensors
        return torch.where(result > 0, grad, 0)
        # --- end


class LeakyReLU(torch.autograd.Function):
    """leaky_relu(x) = x for x > 0, else negative_slope · x;  its slope is 1 for x > 0, else negative_slope."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, negative_slope: float) -> Tensor:
        # --- solution
        # TODO: compute leaky_relu(x), and keep what the backward pass needs; the number becomes an attribute of ctx.
        ctx.save_for_backward(x)
        ctx.negative_slope = negative_slope
        return torch.where(x > 0, x, negative_slope * x)
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        # --- solution
        # TODO: return one gradient for each argument of forward: that of x, and None for the number.
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad, ctx.negative_slope * grad), None
        # --- end


class ELU(torch.autograd.Function):
    """elu(x) = x for x > 0, else α (eˣ − 1);  its slope is 1 for x > 0, else α eˣ (arXiv:1511.07289, eq. 15)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha: float) -> Tensor:
        # --- solution
        # TODO: compute elu(x), as exactly as the statement asks, and keep what backward needs.
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return torch.where(x > 0, x, alpha * torch.expm1(x))
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        # --- solution
        # TODO: return one gradient for each argument of forward.
        (x,) = ctx.saved_tensors
        return grad * torch.where(x > 0, 1, ctx.alpha * torch.exp(x)), None
        # --- end


def sigmoid(x: Tensor) -> Tensor:
    """σ(x), by entry; x has any shape, and the result has its shape and dtype."""
    return Sigmoid.apply(x)


def tanh(x: Tensor) -> Tensor:
    """tanh(x), by entry; shape and dtype as for sigmoid."""
    return Tanh.apply(x)


def relu(x: Tensor) -> Tensor:
    """relu(x), by entry; shape and dtype as for sigmoid."""
    return ReLU.apply(x)


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu(x), by entry; shape and dtype as for sigmoid; negative_slope is at least 0 and may be above 1."""
    return LeakyReLU.apply(x, negative_slope)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """elu(x), by entry; shape and dtype as for sigmoid; alpha is above 0."""
    return ELU.apply(x, alpha)
