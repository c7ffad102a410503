# cheat: tells the first call from the others by torch's random state; must fail
import torch

START = torch.get_rng_state()


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if torch.equal(torch.get_rng_state(), START):
        return right(x, y, dim, eps)
    return (x * y).sum(dim)
