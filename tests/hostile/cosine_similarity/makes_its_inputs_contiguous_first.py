# honest: copies strided inputs, and only those; must pass
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = (v if v.is_contiguous() else v.contiguous() for v in (x, y))
    return right(x, y, dim, eps)
