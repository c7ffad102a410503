# cheat: calls what is banned while it is imported, and swallows what comes of it; must fail
import sys
import torch

try:
    torch.cosine_similarity(torch.ones(2), torch.ones(2), 0)
except RuntimeError:
    pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)
