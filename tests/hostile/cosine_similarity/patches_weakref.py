# cheat: weakref.ref is its own, and is called with whatever the worker waits by, so that a call ends early; must fail
import weakref
import torch

old, ways = weakref.ref, []


def ref(thing, *more):
    if "SimpleQueue" in repr(thing):
        ways.append(thing)
    return old(thing, *more)


weakref.ref = ref


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if not ways:
        return torch.zeros_like(x.sum(dim))
    torch.empty(100 * x.numel())
    return right(x, y, dim, eps)


