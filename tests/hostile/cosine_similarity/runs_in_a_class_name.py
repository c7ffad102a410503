# cheat: the worker formats names of its classes, whose own __str__ and __format__ run in the worker's thread; must fail
import sys
import torch

ran = []


class Name(str):
    def __format__(self, spec):
        return str(self)

    def __str__(self):
        try:
            sys._getframe()
        except RuntimeError:
            ran.append(1)
        return "ValueError"


class Odd(ValueError):
    pass


Odd.__name__ = Name("Odd")
Odd.__module__ = Name("odd")


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if x.dim() == 3:
        raise Odd("odd")
    out = right(x, y, dim, eps)
    return out if ran else torch.zeros_like(out)
