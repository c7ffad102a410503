# honest: is compiled by torch.jit.script; must pass
import torch


@torch.jit.script
def compute(x: torch.Tensor, y: torch.Tensor, dim: int, eps: float) -> torch.Tensor:
    a = x.double()
    b = y.double()
    p = torch.linalg.vector_norm(a, dim=[dim], keepdim=True).clamp_min(eps)
    q = torch.linalg.vector_norm(b, dim=[dim], keepdim=True).clamp_min(eps)
    return ((a / p) * (b / q)).sum(dim).to(x.dtype)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    a, b = torch.broadcast_tensors(x, y)
    return compute(a, b, dim, eps)
