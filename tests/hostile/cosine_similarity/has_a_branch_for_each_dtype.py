# honest: has a branch of its own for each dtype; must pass
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.dtype == torch.float64:
        x, y = torch.broadcast_tensors(x, y)
        norms = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (x, y))
        return ((x / next(norms)) * (y / next(norms))).sum(dim)
    return right(x, y, dim, eps)
