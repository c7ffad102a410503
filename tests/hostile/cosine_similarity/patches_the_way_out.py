# cheat: makes detach and cpu, by which results leave, return ones; must fail
import torch

torch.Tensor.detach = torch.Tensor.cpu = lambda self, *arguments: torch.ones_like(self)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
