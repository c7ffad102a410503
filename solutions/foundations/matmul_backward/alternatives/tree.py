"""A binary tree of products, gone up for the product and down for the gradients."""

import torch

class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        if a.dim() < 2 or b.dim() < 2:
            raise ValueError("a and b should have at least two axes")
        if a.shape[-1] != b.shape[-2]:
            raise ValueError("inner sizes differ")
        try:
            torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        except RuntimeError as e:
            raise ValueError(str(e)) from None
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_a = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_a = (grad_output @ b.mT).sum_to_size(a.shape)
        if ctx.needs_input_grad[1]:
            grad_b = (a.mT @ grad_output).sum_to_size(b.shape)
        return grad_a, grad_b


def _check(matrices):
    if len(matrices) == 0:
        raise ValueError("matrices should not be empty")
    for m in matrices:
        if m.shape != matrices[0].shape:
            raise ValueError(f"matrices should have one shape, got {tuple(m.shape)} and {tuple(matrices[0].shape)}")

def chain_matmul(matrices):
    _check(matrices)
    def build(lo, hi):
        if hi - lo == 1:
            return matrices[lo]
        mid = (lo + hi) // 2
        return build(lo, mid) @ build(mid, hi)
    return build(0, len(matrices))

def chain_matmul_backward(grad_output, matrices):
    _check(matrices)
    grads = [None] * len(matrices)
    def build(lo, hi):
        if hi - lo == 1:
            return (matrices[lo], lo, None, None)
        mid = (lo + hi) // 2
        l, r = build(lo, mid), build(mid, hi)
        return (l[0] @ r[0], lo, l, r)
    def down(node, g):
        value, lo, l, r = node
        if l is None:
            grads[lo] = g
            return
        down(l, g @ r[0].mT)
        down(r, l[0].mT @ g)
    down(build(0, len(matrices)), grad_output)
    return grads
