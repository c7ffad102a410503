# honest: scales in place where nothing records gradients; must pass
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = (v.to(torch.float64, copy=True) for v in torch.broadcast_tensors(x, y))
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad):
        return right(x, y, dim, eps)
    for v in (a, b):
        v.div_(torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min_(eps))
    return a.mul_(b).sum(dim).to(x.dtype)
