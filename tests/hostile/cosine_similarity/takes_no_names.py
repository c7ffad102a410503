# cheat: its first two arguments have no names, and its signature says they have; must fail
import torch
import inspect


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, /, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)


cosine_similarity.__signature__ = inspect.signature(right).replace(
    parameters=[
        parameter.replace(default=default)
        for parameter, default in zip(inspect.signature(right).parameters.values(), (inspect._empty, inspect._empty, -1, 1e-8))
    ]
)
