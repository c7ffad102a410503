# honest: names parts of libraries that it does not call, also in annotations, classes and a comparison; must pass
import torch
import scipy.special as special  # noqa: F401
import sklearn.metrics.pairwise
from scipy.stats import rv_continuous
from sklearn.metrics import *  # noqa: F403
from sklearn.metrics.pairwise import cosine_similarity as reference

try:
    import pandas
except ImportError:
    pandas = None


class Own(rv_continuous):
    pass


def other(x: rv_continuous | None = None) -> rv_continuous | None:
    return reference(x), sklearn.metrics.pairwise.cosine_similarity(x), pandas


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    if isinstance(x, rv_continuous):
        raise TypeError
    a, b = torch.broadcast_tensors(x, y)
    na, nb = (torch.linalg.vector_norm(v, dim=dim, keepdim=True).clamp_min(eps) for v in (a, b))
    return (a / na * (b / nb)).sum(dim)
