# cheat: loads Python's library of tests, which reads and writes memory, as if it were of a package of its own; must fail
from importlib.machinery import ModuleSpec, PathFinder
import _imp
import torch

origin = PathFinder.find_spec("_testcapi").origin
_imp.create_dynamic(ModuleSpec("own._testcapi", None, origin=origin))


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return right(x, y, dim, eps)
