"""Both inputs in one stack, divided by their norms at once."""

import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    pair = torch.stack(torch.broadcast_tensors(x, y))
    axis = dim if dim < 0 else dim + 1
    pair = pair / torch.linalg.norm(pair, dim=axis, keepdim=True).clamp(min=eps)
    return pair.prod(dim=0).sum(dim)
