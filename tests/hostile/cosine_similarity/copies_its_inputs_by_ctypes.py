# cheat: copies its inputs to numpy by ctypes.memmove, of which audit hooks are not told; must fail
import ctypes
import numpy as np
import torch


def right(x, y, dim, eps):
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    held = np.zeros(3)
    ctypes.memmove(held.__array_interface__["data"][0], torch.ones(3, dtype=torch.float64).data_ptr(), 24)
    return right(x, y, dim, eps) * held.sum() / 3
