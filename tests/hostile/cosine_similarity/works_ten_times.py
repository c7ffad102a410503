# cheat: is right in its first ten calls; must fail
import torch

CALLS = []


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    CALLS.append(1)
    return right(x, y, dim, eps) if len(CALLS) <= 10 else (x * y).sum(dim)
