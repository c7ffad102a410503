"""Gradients by hand: d(−p log q) = −log q dp − (p / q) dq."""

import math

import torch


class Terms(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, q):
        ctx.save_for_backward(p, q)
        return torch.where(p == 0, 0, -p * q.log())

    @staticmethod
    def backward(ctx, grad):
        p, q = ctx.saved_tensors
        return grad * torch.where(p + q == 0, 0, -q.log()), grad * torch.where(p == 0, 0, -p / q)


def cross_entropy_of(p, q, dim=-1, base=None):
    if base is not None and (base <= 0 or base == 1):
        raise ValueError("base should be positive and not 1")
    return Terms.apply(p, q).sum(dim) / (1.0 if base is None else math.log(base))


def entropy(p, dim=-1, base=None):
    return cross_entropy_of(p, p, dim, base)


def kl_divergence(p, q, dim=-1, base=None):
    return cross_entropy_of(p, q, dim, base) - cross_entropy_of(p, p, dim, base)
