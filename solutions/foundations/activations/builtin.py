"""torch.sigmoid, torch.tanh, torch.relu, F.leaky_relu and F.elu, forward and backward."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

aten = torch.ops.aten


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = torch.sigmoid(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return aten.sigmoid_backward(grad, *ctx.saved_tensors)


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return aten.tanh_backward(grad, *ctx.saved_tensors)


class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.relu(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return aten.threshold_backward(grad, *ctx.saved_tensors, 0)


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, negative_slope: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.negative_slope = negative_slope
        return F.leaky_relu(x, negative_slope)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return aten.leaky_relu_backward(grad, *ctx.saved_tensors, ctx.negative_slope, False), None


class ELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return F.elu(x, alpha)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return aten.elu_backward(grad, ctx.alpha, 1, 1, False, *ctx.saved_tensors), None


def sigmoid(x: Tensor) -> Tensor:
    return Sigmoid.apply(x)


def tanh(x: Tensor) -> Tensor:
    return Tanh.apply(x)


def relu(x: Tensor) -> Tensor:
    return ReLU.apply(x)


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    return LeakyReLU.apply(x, negative_slope)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return ELU.apply(x, alpha)
