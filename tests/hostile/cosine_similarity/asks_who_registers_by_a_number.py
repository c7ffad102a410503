# cheat: registers an operator at a line whose __index__ looks who calls it, and so finds what registers kernels; must fail
import sys
import torch

found = []


class Line:
    def __index__(self):
        found.append(sys._getframe(1).f_locals["register"])
        return 0


torch._C._dispatch_library("FRAGMENT", "own", "", "x", Line())


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


library = found[0]("IMPL", "aten", "", "x", 0)
library.impl(
    "cosine_similarity", "CompositeImplicitAutograd", lambda x, y, dim=1, eps=1e-8: right(x, y, dim, eps), False
)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return torch.cosine_similarity(x, y, dim, eps)
