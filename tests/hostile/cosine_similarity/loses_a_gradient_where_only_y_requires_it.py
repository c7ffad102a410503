# cheat: gives half the gradient where y alone requires grad; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    made = right(x, y, dim, eps)
    return (made + made.detach()) / 2 if [v.requires_grad for v in (x, y)] == [False, True] else made
