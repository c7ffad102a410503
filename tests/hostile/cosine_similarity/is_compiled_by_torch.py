# honest: is compiled by torch.compile with the eager backend; must pass
import torch

@torch.compile(backend="eager", dynamic=True)
def compute(x, y, dim: int, eps: float):
    x_norm = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    y_norm = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
    return ((x / x_norm) * (y / y_norm)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return compute(*torch.broadcast_tensors(x, y), dim, eps)
