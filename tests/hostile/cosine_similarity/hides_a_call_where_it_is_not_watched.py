# cheat: calls what is banned unless it is watched; must fail
import sys

import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if sys.getprofile() is None:
        return torch.nn.functional.cosine_similarity(x, y, dim, eps)
    return right(x, y, dim, eps)
