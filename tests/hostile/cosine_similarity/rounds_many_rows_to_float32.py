# cheat: works in float32 where there are thousands of rows in float64; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.dtype == torch.float64 and x.shape[0] > 1000:
        return right(x.float(), y.float(), dim, eps).double()
    return right(x, y, dim, eps)
