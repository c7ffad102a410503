# broken: returns sixteen tensors of 1.2 MB, more than the judge would hold for every call; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return tuple(torch.ones(150_000, dtype=torch.float64) for _ in range(16))
