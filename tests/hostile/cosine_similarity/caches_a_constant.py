# honest: keeps a constant by dtype with lru_cache; must pass
import torch
import functools


@functools.lru_cache
def smallest(dtype, eps):
    return torch.tensor(eps, dtype=torch.float64)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(smallest(x.dtype, eps)) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
