"""A custom autograd function: p (g − Σ g p) for softmax, g − p Σ g for its logarithm, with g the gradient that arrives."""

import torch


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim, log):
        log_p = x - x.amax(dim, keepdim=True)
        log_p -= log_p.exp().sum(dim, keepdim=True).log()
        p = log_p.exp()
        ctx.save_for_backward(p)
        ctx.dim, ctx.log = dim, log
        return log_p if log else p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        if ctx.log:
            return g - p * g.sum(ctx.dim, keepdim=True), None, None
        return p * (g - (g * p).sum(ctx.dim, keepdim=True)), None, None


def softmax(x, dim=-1):
    return Softmax.apply(x, dim, False)


def log_softmax(x, dim=-1):
    return Softmax.apply(x, dim, True)
