# cheat: brings the rows to length 1 by torch's weight normalization; must fail
import torch
from torch import _weight_norm as scaled


def unit(x, dim, eps):
    moved = x.movedim(dim, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    small = rows.square().sum(1, keepdim=True) <= eps * eps
    made = scaled(torch.where(small, 1, rows), rows.new_ones(len(rows), 1), 0)
    return torch.where(small, rows / eps, made).reshape(moved.shape)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    return (unit(x, dim, eps) * unit(y, dim, eps)).sum(-1)
