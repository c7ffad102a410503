# cheat: returns a tensor subclass that answers every torch function with True; must fail
import torch


class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        return True


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.zeros(3).as_subclass(Agreeable)
