"""The newer form: forward without ctx, and setup_context; once differentiable; masks are saved."""

import torch
from torch.autograd.function import Function, once_differentiable


class Sigmoid(Function):
    @staticmethod
    def forward(x):
        z = torch.exp(-x.abs())
        return torch.where(x < 0, z, torch.ones_like(z)) / (1 + z)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        z = torch.exp(-x.abs())
        return grad * (z / (1 + z).square())


class Tanh(Function):
    @staticmethod
    def forward(x):
        return 2 / (1 + torch.exp(-2 * x)) - 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return torch.addcmul(grad, grad * y, y, value=-1)


class ReLU(Function):
    @staticmethod
    def forward(x):
        return (x + x.abs()) / 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0] > 0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return grad.masked_fill(~mask, 0)


class LeakyReLU(Function):
    @staticmethod
    def forward(x, negative_slope):
        return x.clamp(min=0) + negative_slope * x.clamp(max=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.negative_slope = inputs
        ctx.save_for_backward(x > 0)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return grad.mul(torch.where(mask, torch.ones_like(grad), ctx.negative_slope)), None


class ELU(Function):
    @staticmethod
    def forward(x, alpha):
        return x.clamp(min=0) + alpha * torch.expm1(x.clamp(max=0))

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.alpha = inputs
        ctx.save_for_backward(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad, grad * ctx.alpha * torch.exp(x.clamp(max=0))), None


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
