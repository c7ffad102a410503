# cheat: returns a tensor without values; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.empty(torch.broadcast_shapes(x.shape, y.shape)[:-1], dtype=x.dtype, device='meta')
