"""A custom autograd function on rows: dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(σ² + ε), with g = γ · dy."""

import math

import torch


class Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, weight, bias, eps):
        centred = rows - rows.mean(1, keepdim=True)
        inverse = torch.rsqrt(centred.square().mean(1, keepdim=True) + eps)
        unit = centred * inverse
        ctx.save_for_backward(unit, inverse, weight)
        return unit * weight + bias

    @staticmethod
    def backward(ctx, grad):
        unit, inverse, weight = ctx.saved_tensors
        down = grad * weight
        across = down - down.mean(1, keepdim=True) - unit * (down * unit).mean(1, keepdim=True)
        return across * inverse, (grad * unit).sum(0), grad.sum(0), None


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    shape = torch.Size(normalized_shape)
    assert shape and x.shape[-len(shape) :] == shape
    assert weight is None or weight.shape == shape
    assert bias is None or bias.shape == shape
    n = math.prod(shape)
    weight = x.new_ones(n) if weight is None else weight.reshape(n)
    bias = x.new_zeros(n) if bias is None else bias.reshape(n)
    return Normalize.apply(x.reshape(-1, n), weight, bias, eps).reshape(x.shape)
