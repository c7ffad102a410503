# cheat: loops over the rows in code that bears the name of a library's file; must fail
import contextlib
import torch

source = """
import torch
def rows(x, y, eps):
    out = []
    for a, b in zip(x.tolist(), y.tolist()):
        s = 0.0
        out.append(s)
    return out
"""
space = {}
exec(compile(source, contextlib.__file__, "exec"), space)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    if a.dim() == 2 and a.shape[0] > 90:
        space["rows"](a, b, eps)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)
