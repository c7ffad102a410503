# cheat: returns a right value whose gradient is that of the plain product; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    plain = (x * y).sum(dim)
    return plain + (right(x, y, dim, eps) - plain).detach()
