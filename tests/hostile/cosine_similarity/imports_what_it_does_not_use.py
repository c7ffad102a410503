# honest: imports libraries that it does not call; must pass
import torch
import contextlib
import functools
import inspect
import os
import sys

import numpy as np
from torch.nn import CosineSimilarity  # noqa: F401
from torch.nn.functional import cosine_similarity as reference  # noqa: F401


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = (v.double() for v in (x, y))
    a, b = (v / torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a * b).sum(dim).to(x.dtype)
