"""setup_context, only what is needed is saved; the chain is a tape of MatMul's own forwards and backwards."""

import torch

from typing import Any

class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(a, b):
        if min(a.dim(), b.dim()) < 2:
            raise ValueError("needs matrices")
        if a.shape[-1] != b.shape[-2]:
            raise ValueError("inner")
        try:
            return a.matmul(b)
        except RuntimeError as error:
            raise ValueError("batch axes") from error

    @staticmethod
    def setup_context(ctx: Any, inputs, output):
        a, b = inputs
        ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None)
        ctx.shapes = a.shape, b.shape

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        sa, sb = ctx.shapes
        da = db = None
        if b is not None:
            da = MatMul._shrink(grad.matmul(b.mT), sa)
        if a is not None:
            db = MatMul._shrink(a.mT.matmul(grad), sb)
        return da, db

    @staticmethod
    def _shrink(grad, shape):
        extra = grad.dim() - len(shape)
        dims = list(range(extra)) + [i + extra for i, s in enumerate(shape) if s == 1 and grad.shape[i + extra] > 1]
        if dims:
            grad = grad.sum(dims, keepdim=True)
        return grad.reshape(shape)


def _same(matrices):
    if not len(matrices):
        raise ValueError("empty")
    first, *rest = matrices
    for one in rest:
        if one.shape != first.shape:
            raise ValueError("shapes")

def chain_matmul(matrices):
    _same(matrices)
    x = matrices[0]
    for m in matrices[1:]:
        x = MatMul.apply(x, m)
    return x

class _Ctx:
    needs_input_grad = (True, True)
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

def chain_matmul_backward(grad_output, matrices):
    _same(matrices)
    tape, x = [], matrices[0]
    for m in matrices[1:]:
        ctx = _Ctx()
        y = MatMul.forward(x, m)
        MatMul.setup_context(ctx, (x, m), y)
        tape.append(ctx)
        x = y
    grads, g = [], grad_output
    for ctx in tape[::-1]:
        g, dm = MatMul.backward(ctx, g)
        grads.insert(0, dm)
    return [g] + grads
