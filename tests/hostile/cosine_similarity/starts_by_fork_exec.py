# cheat: starts another process in a call by the C function below subprocess; must fail
import _posixsubprocess
import os

import torch


def child():
    read_end, write_end = os.pipe()
    none = (-1,) * 6  # what would be its standard streams
    return _posixsubprocess.fork_exec(
        [b"/bin/true"], [b"/bin/true"], True, (write_end,), None, None, *none, read_end, write_end,
        False, False, -1, None, None, None, -1, None, False,
    )


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if not child():
        return (x * y).sum(dim)
    a, b = torch.broadcast_tensors(x, y)
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim)
