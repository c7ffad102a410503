# honest: normalises an input that requires no grad outside the graph; must pass
import torch
import contextlib


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    def unit(v):
        with contextlib.nullcontext() if v.requires_grad else torch.no_grad():
            v = v.double()
            return v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps)

    shape = torch.broadcast_shapes(x.shape, y.shape)
    return (unit(x.expand(shape)) * unit(y.expand(shape))).sum(dim).to(x.dtype)
