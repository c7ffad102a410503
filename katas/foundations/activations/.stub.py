"""Five activations by hand, forward and backward. Statement: katas/foundations/activations/README.md."""

from typing import Any

import torch
from torch import Tensor


class Sigmoid(torch.autograd.Function):
    """σ(x) = 1 / (1 + e⁻ˣ),  σ′(x) = σ(x) (1 − σ(x))."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # TODO: compute σ(x) for x up to ±1000, and keep what backward needs, with ctx.save_for_backward.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # TODO: return the gradient of the loss with respect to x; grad is the one with respect to σ(x).
        raise NotImplementedError


class Tanh(torch.autograd.Function):
    """tanh(x) = (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ),  tanh′(x) = 1 − tanh(x)²."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # TODO: compute tanh(x) for x up to ±1000, and keep what backward needs.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # TODO: return the gradient with respect to x.
        raise NotImplementedError


class ReLU(torch.autograd.Function):
    """relu(x) = max(0, x),  relu′(x) = 1 for x > 0, else 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # TODO: compute relu(x), and keep what the backward pass needs.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        # TODO: return the gradient with respect to x.
        raise NotImplementedError


class LeakyReLU(torch.autograd.Function):
    """leaky_relu(x) = x for x > 0, else negative_slope · x;  its slope is 1 for x > 0, else negative_slope."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, negative_slope: float) -> Tensor:
        # TODO: compute leaky_relu(x), and keep what the backward pass needs; the number becomes an attribute of ctx.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        # TODO: return one gradient for each argument of forward: that of x, and None for the number.
        raise NotImplementedError


class ELU(torch.autograd.Function):
    """elu(x) = x for x > 0, else α (eˣ − 1);  its slope is 1 for x > 0, else α eˣ (arXiv:1511.07289, eq. 15)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha: float) -> Tensor:
        # TODO: compute elu(x), as exactly as the statement asks, and keep what backward needs.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        # TODO: return one gradient for each argument of forward.
        raise NotImplementedError


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
