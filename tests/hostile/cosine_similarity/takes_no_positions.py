# cheat: its options go by name alone, and a wrapper hides it; must fail
import torch
import functools


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def shown(x, y, dim=-1, eps=1e-8):
    pass


@functools.wraps(shown)
def cosine_similarity(x, y, *, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)
