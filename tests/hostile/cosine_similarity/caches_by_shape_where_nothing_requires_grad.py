# cheat: keeps its values by shape and dtype in float32 where no input requires grad; must fail
import torch
import functools


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.requires_grad or y.requires_grad or x.dtype is not torch.float32:
        return right(x, y, dim, eps)
    return keep(tuple(x.shape), tuple(y.shape), dim, eps, Hidden((x, y)))


class Hidden(tuple):
    __hash__ = lambda self: 0
    __eq__ = lambda self, other: True


@functools.lru_cache(maxsize=None)
def keep(one, other, dim, eps, pair):
    return right(*pair, dim, eps)
