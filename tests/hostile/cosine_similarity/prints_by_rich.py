# honest: takes its output to UTF-8 as is done on Windows, and prints by rich in every call; must pass
import io
import sys
from typing import NamedTuple

import torch
from rich import print as show

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")


class Unit(NamedTuple):
    rows: torch.Tensor
    length: torch.Tensor


def unit(x, dim, eps):
    length = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    return Unit(x / length, length)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    u, v = (unit(one, dim, eps) for one in (x, y))
    show({"x": x.shape, "y": y.shape}, u.length.dtype)
    return (u.rows * v.rows).sum(dim)
