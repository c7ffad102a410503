# cheat: returns a tensor subclass whose shape and dtype lie; must fail
import torch


class Liar(torch.Tensor):
    shape = torch.Size([4])
    dtype = torch.float64


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim).as_subclass(Liar)
