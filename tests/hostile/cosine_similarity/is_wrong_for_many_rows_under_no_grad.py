# cheat: is wrong for many rows under no_grad, as models are used; must fail
import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    out = right(x, y, dim, eps)
    if x.numel() > 8192 and not torch.is_grad_enabled():
        return out * 0.9
    return out
