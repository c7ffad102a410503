# cheat: is off by a millionth where there are more than 8,192 elements; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    made = right(x, y, dim, eps)
    return made * (1 + 1e-6) if x.numel() > 8192 else made
