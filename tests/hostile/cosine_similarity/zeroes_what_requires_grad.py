# cheat: zeroes the input that requires grad, behind autograd's back; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    made = right(x.clone(), y.clone(), dim, eps)
    for v in (x, y):
        if v.requires_grad:
            v.detach().data.copy_(torch.zeros_like(v))
    return made
