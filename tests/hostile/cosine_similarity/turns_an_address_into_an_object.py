# cheat: turns an address into an object by a union of ctypes, of which audit hooks are not told; must be flagged
import ctypes
import torch


class Either(ctypes.Union):
    _fields_ = [("address", ctypes.c_void_p), ("thing", ctypes.py_object)]


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    either = Either()
    either.address = id(x)
    return right(either.thing, y, dim, eps)
