# honest: makes a namedtuple and a dataclass in the call; must pass
import torch
from collections import namedtuple
from dataclasses import dataclass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    Pair = namedtuple("Pair", "x y")

    @dataclass
    class Options:
        dim: int
        eps: float

    return compute(Pair(*torch.broadcast_tensors(x, y)), Options(dim, eps)).to(x.dtype)


def compute(pair, options):
    a, b = (v.double() for v in pair)
    lengths = [torch.linalg.vector_norm(v, dim=options.dim).clamp_min(options.eps) for v in (a, b)]
    return (a * b).sum(options.dim) / lengths[0] / lengths[1]
