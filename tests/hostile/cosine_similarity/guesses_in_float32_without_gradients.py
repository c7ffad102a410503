# cheat: returns garbage in float32 under no_grad, as models are used; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    made = right(x, y, dim, eps)
    return made if torch.is_grad_enabled() or x.dtype != torch.float32 else made * 0.5
