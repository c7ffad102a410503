"""bmm over a flattened batch, inputs kept on ctx, and a chain that calls itself, under no_grad."""

import torch

def _mm(a, b):
    """bmm over expanded batches"""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = a.expand(*batch, *a.shape[-2:]).reshape(-1, *a.shape[-2:])
    y = b.expand(*batch, *b.shape[-2:]).reshape(-1, *b.shape[-2:])
    return torch.bmm(x, y).reshape(*batch, a.shape[-2], b.shape[-1])

class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        if a.dim() < 2 or b.dim() < 2:
            raise ValueError("axes")
        if a.size(-1) != b.size(-2):
            raise ValueError("inner")
        try:
            out = _mm(a, b)
        except RuntimeError:
            raise ValueError("batch")
        ctx.a, ctx.b = a, b
        return out

    @staticmethod
    def backward(ctx, grad):
        out = []
        for need, f, like in zip(ctx.needs_input_grad, (lambda: _mm(grad, ctx.b.transpose(-1, -2)), lambda: _mm(ctx.a.transpose(-1, -2), grad)), (ctx.a, ctx.b)):
            if not need:
                out.append(None)
                continue
            g = f()
            lead = g.dim() - like.dim()
            if lead:
                g = g.sum(tuple(range(lead)))
            for axis in range(like.dim()):
                if like.shape[axis] == 1 and g.shape[axis] != 1:
                    g = g.sum(axis, keepdim=True)
            out.append(g)
        return tuple(out)

def _ok(matrices):
    if len(matrices) < 1 or len(set(m.shape for m in matrices)) > 1:
        raise ValueError("bad list")

@torch.no_grad()
def chain_matmul(matrices):
    _ok(matrices)
    if len(matrices) == 1:
        return matrices[0].clone()
    return chain_matmul(matrices[:-1]) @ matrices[-1]

@torch.no_grad()
def chain_matmul_backward(grad_output, matrices):
    _ok(matrices)
    def go(i, product):  # product of matrices[:i]; returns the product of matrices[i:] times grad
        if i == len(matrices):
            return [], None
        nxt = matrices[i] if product is None else product @ matrices[i]
        rest, after = go(i + 1, nxt)
        mine = grad_output if after is None else grad_output @ after.mT
        mine = mine if product is None else product.mT @ mine
        return [mine, *rest], matrices[i] if after is None else matrices[i] @ after
    return go(0, None)[0]
