"""A custom autograd function: dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(σ² + ε), with g = γ · dy."""

import torch


class Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, planes, weight, bias, eps):
        centred = planes - planes.mean(2, keepdim=True)
        inverse = torch.rsqrt(centred.square().mean(2, keepdim=True) + eps)
        unit = centred * inverse
        ctx.save_for_backward(unit, inverse, weight)
        return unit * weight[:, None] + bias[:, None]

    @staticmethod
    def backward(ctx, grad):
        unit, inverse, weight = ctx.saved_tensors
        down = grad * weight[:, None]
        across = down - down.mean(2, keepdim=True) - unit * (down * unit).mean(2, keepdim=True)
        return across * inverse, (grad * unit).sum((0, 2)), grad.sum((0, 2)), None


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    assert x.dim() > 2 and x.numel() != x.shape[0] * x.shape[1]
    C = x.shape[1]
    assert weight is None or tuple(weight.shape) == (C,)
    assert bias is None or tuple(bias.shape) == (C,)
    weight = x.new_ones(C) if weight is None else weight
    bias = x.new_zeros(C) if bias is None else bias
    return Normalize.apply(x.flatten(2), weight, bias, eps).reshape(x.shape)
