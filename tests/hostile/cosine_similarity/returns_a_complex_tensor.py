# cheat: returns a complex tensor; must fail
import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim).to(torch.complex128)
