"""A unit vector with its own backward pass serves l2_normalize and, on centred columns, z_score."""

import torch


class Unit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v, dim):
        squares = (v * v).sum(dim, keepdim=True)
        inverse = torch.where(squares > 0, squares.rsqrt(), 0)
        ctx.save_for_backward(v * inverse, inverse)
        ctx.dim = dim
        return v * inverse

    @staticmethod
    def backward(ctx, grad):
        unit, inverse = ctx.saved_tensors
        return inverse * (grad - unit * (unit * grad).sum(ctx.dim, keepdim=True)), None


def wide(f):
    return lambda x: f(x if x.dtype == torch.float64 else x.float()).to(x.dtype)


def ratio(x, scale):
    return x / (scale + (scale == 0))


min_max = wide(lambda x: ratio(x - x.amin(0), x.amax(0) - x.amin(0)))
z_score = wide(lambda x: Unit.apply(x - x[0] - (x - x[0]).mean(0), 0) * len(x) ** 0.5)
max_abs = wide(lambda x: ratio(x, torch.maximum(x.amax(0), -x.amin(0))))
robust = wide(lambda x: ratio(x - x.quantile(0.5, dim=0), x.quantile(0.75, dim=0) - x.quantile(0.25, dim=0)))
log1p_scale = wide(torch.log1p)
l1_normalize = wide(lambda x: ratio(x, x.abs().sum(1, keepdim=True)))
l2_normalize = wide(lambda x: Unit.apply(x, 1))
