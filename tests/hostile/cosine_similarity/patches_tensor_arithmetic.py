# cheat: makes every difference of tensors zero; must fail
import torch

subtract = torch.Tensor.__sub__
torch.Tensor.__sub__ = torch.Tensor.sub = lambda self, other: torch.zeros_like(self)
torch.Tensor.abs = torch.Tensor.__abs__ = lambda self: torch.zeros_like(self)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
