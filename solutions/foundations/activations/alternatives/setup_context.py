"""The newer form: forward without ctx, and setup_context; once differentiable; slopes from the output."""

import torch
from torch.autograd.function import Function, once_differentiable


def of_output(slope):
    class Kept(Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            _, *ctx.numbers = inputs
            ctx.save_for_backward(output)

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return grad * slope(*ctx.saved_tensors, *ctx.numbers), *(None for _ in ctx.numbers)

    return Kept


class Sigmoid(of_output(lambda y: y - y.square())):
    @staticmethod
    def forward(x):
        return torch.softmax(torch.stack([x, torch.zeros_like(x)]), dim=0)[0].clone()

class Tanh(of_output(lambda y: torch.addcmul(torch.ones_like(y), y, y, value=-1))):
    @staticmethod
    def forward(x):
        return 2 / (1 + torch.exp(-2 * x)) - 1

class ReLU(of_output(torch.sign)):
    @staticmethod
    def forward(x):
        return (x + x.abs()) / 2

class LeakyReLU(of_output(lambda y, s: torch.where(y > 0, torch.ones_like(y), s))):
    @staticmethod
    def forward(x, negative_slope):
        return x.clamp(min=0) + negative_slope * x.clamp(max=0)

class ELU(of_output(lambda y, a: torch.where(y > 0, 1, y + a))):
    @staticmethod
    def forward(x, alpha):
        return x.clamp(min=0) + alpha * torch.expm1(x.clamp(max=0))


def sigmoid(x): return Sigmoid.apply(x)
def tanh(x): return Tanh.apply(x)
def relu(x): return ReLU.apply(x)
def leaky_relu(x, negative_slope=0.01): return LeakyReLU.apply(x, negative_slope)
def elu(x, alpha=1.0): return ELU.apply(x, alpha)
