"""Autograd by hand: one gradient is carried back along the chain; a helper sums what was broadcast, axis by axis."""

import torch
import itertools
from torch.autograd import Function

def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(0)
    for i, s in enumerate(shape):
        if s == 1 and grad.shape[i] != 1:
            grad = grad.sum(i, keepdim=True)
    return grad

class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        if a.ndim < 2 or b.ndim < 2 or a.size(-1) != b.size(-2):
            raise ValueError(f"cannot multiply {tuple(a.shape)} and {tuple(b.shape)}")
        for x, y in zip(reversed(a.shape[:-2]), reversed(b.shape[:-2])):
            if x != y and 1 not in (x, y):
                raise ValueError("batch axes do not broadcast")
        ctx.save_for_backward(a, b)
        return torch.matmul(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        return (
            unbroadcast(torch.matmul(g, b.transpose(-1, -2)), a.shape) if need_a else None,
            unbroadcast(torch.matmul(a.transpose(-1, -2), g), b.shape) if need_b else None,
        )

def chain_matmul(matrices):
    if not matrices or any(m.shape != matrices[0].shape for m in matrices):
        raise ValueError("matrices")
    return list(itertools.accumulate(matrices, torch.matmul))[-1]

def chain_matmul_backward(grad_output, matrices):
    if not matrices or any(m.shape != matrices[0].shape for m in matrices):
        raise ValueError("matrices")
    before = list(itertools.accumulate(matrices, torch.matmul))
    grads = []
    g = grad_output
    for i in reversed(range(len(matrices))):
        grads.append(before[i - 1].mT @ g if i else g)
        g = g @ matrices[i].mT
    return grads[::-1]
