"""Without expm1 (Kahan's correction of exp(x) − 1), with cosh for the slope of tanh; arguments asserted."""

import torch
from torch import Tensor


def exp_minus_1(x: Tensor) -> Tensor:
    u = torch.exp(x)
    corrected = (u - 1) * x / torch.log(u)
    return torch.where(u == 1, x, torch.where(u < 0.5, u - 1, corrected))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        assert x.is_floating_point()
        ctx.x = x
        return torch.reciprocal(1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        z = torch.exp(-torch.abs(ctx.x))
        return grad * z / ((1 + z) * (1 + z))


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.x = x
        e = exp_minus_1(-2 * x.abs())
        return torch.copysign(-e / (e + 2), x)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        return grad / torch.cosh(ctx.x) / torch.cosh(ctx.x)


class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.mask = torch.heaviside(x, torch.zeros_like(x))
        return x * ctx.mask

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        return grad * ctx.mask


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, negative_slope: float) -> Tensor:
        assert negative_slope >= 0
        step = torch.heaviside(x, torch.zeros_like(x))
        ctx.slope = step + negative_slope * (1 - step)
        return x * ctx.slope

    @staticmethod
    def backward(ctx, grad: Tensor):
        return (grad * ctx.slope, None) if ctx.needs_input_grad[0] else (None, None)


class ELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, alpha: float) -> Tensor:
        assert alpha > 0
        low = torch.minimum(x, torch.zeros_like(x))
        ctx.low, ctx.alpha, ctx.positive = low, alpha, x > 0
        return torch.maximum(x, torch.zeros_like(x)) + alpha * exp_minus_1(low)

    @staticmethod
    def backward(ctx, grad: Tensor):
        return grad * torch.where(ctx.positive, torch.ones_like(grad), ctx.alpha * torch.exp(ctx.low)), None


def sigmoid(x):
    return Sigmoid.apply(x)


def tanh(x):
    return Tanh.apply(x)


def relu(x):
    return ReLU.apply(x)


def leaky_relu(x, negative_slope=0.01):
    return LeakyReLU.apply(x, negative_slope)


def elu(x, alpha=1.0):
    return ELU.apply(x, alpha)
