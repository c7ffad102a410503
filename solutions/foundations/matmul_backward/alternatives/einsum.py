"""einsum throughout, identities at both ends, asserts; both gradients are made, then dropped if not needed."""

import torch

class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        assert a.dim() >= 2 and b.dim() >= 2
        assert a.shape[-1] == b.shape[-2]
        n = max(a.dim(), b.dim())
        sa = (1,) * (n - a.dim()) + a.shape
        sb = (1,) * (n - b.dim()) + b.shape
        assert all(x == y or x == 1 or y == 1 for x, y in zip(sa[:-2], sb[:-2]))
        ctx.save_for_backward(a, b)
        return torch.einsum("...ij,...jk->...ik", a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        da = torch.einsum("...ik,...jk->...ij", grad, b)
        db = torch.einsum("...ij,...ik->...jk", a, grad)
        da = da.sum_to_size(a.shape) if ctx.needs_input_grad[0] else None
        db = db.sum_to_size(b.shape) if ctx.needs_input_grad[1] else None
        return da, db

def chain_matmul(matrices):
    assert len(matrices) > 0
    assert len({m.shape for m in matrices}) == 1
    result = matrices[0].clone()
    for m in matrices[1:]:
        result = torch.einsum("...ij,...jk->...ik", result, m)
    return result

def chain_matmul_backward(grad_output, matrices):
    assert len(matrices) > 0
    assert len({m.shape for m in matrices}) == 1
    eye = torch.eye(matrices[0].shape[-1], dtype=grad_output.dtype, device=grad_output.device).expand(matrices[0].shape)
    left = [eye]
    for m in matrices[:-1]:
        left.append(torch.einsum("...ij,...jk->...ik", left[-1], m))
    right = [eye]
    for m in matrices[:0:-1]:
        right.append(torch.einsum("...ij,...jk->...ik", m, right[-1]))
    right.reverse()
    return [torch.einsum("...ji,...jk,...lk->...il", l, grad_output, r) for l, r in zip(left, right)]
