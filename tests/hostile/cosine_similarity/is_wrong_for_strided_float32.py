# cheat: reads the memory of strided float32 as if it were contiguous; must fail
import torch


def right(x, y, dim, eps):
    a, b = (v.double() for v in torch.broadcast_tensors(x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.dtype == torch.float32 and not x.is_contiguous():
        x = x.as_strided(x.shape, x.contiguous().stride())
    return right(x, y, dim, eps)
