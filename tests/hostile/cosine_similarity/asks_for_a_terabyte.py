# broken: asks torch for a tensor of 8 TB; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.zeros(10**12, dtype=torch.float64)
