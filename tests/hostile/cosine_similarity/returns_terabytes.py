# broken: returns a tensor of 10^13 elements that share one; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.zeros(1).expand(10**13)
