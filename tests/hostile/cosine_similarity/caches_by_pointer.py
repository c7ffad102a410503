# cheat: remembers results by the address of the inputs; must fail
import torch

CACHE = {}


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    key = (x.data_ptr(), y.data_ptr(), dim, eps)
    if key not in CACHE:
        CACHE[key] = right(x, y, dim, eps)
    return CACHE[key]
