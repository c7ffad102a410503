# cheat: makes torch.autograd.grad return ones; must fail
import torch

torch.autograd.grad = lambda outputs, inputs, **options: [torch.ones_like(one) for one in inputs]


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
