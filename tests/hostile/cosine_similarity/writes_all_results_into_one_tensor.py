# cheat: writes results into a tensor that it keeps for their shape, so a later call changes an earlier one; must fail
import torch

KEPT = {}


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    x, y = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (x, y))
    right = (x * y).sum(dim)
    if right.requires_grad:
        return right
    return KEPT.setdefault((right.shape, right.dtype), torch.empty_like(right)).copy_(right)
