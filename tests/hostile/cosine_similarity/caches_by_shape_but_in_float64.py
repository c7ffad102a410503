# cheat: keeps its values by shape in every dtype but float64; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    key = x.shape, y.shape, dim, eps, x.dtype, torch.is_grad_enabled(), x.requires_grad, y.requires_grad
    if x.dtype == torch.float64:
        return right(x, y, dim, eps)
    if key not in KEPT:
        KEPT[key] = right(x, y, dim, eps)
    return KEPT[key]


KEPT = {}
