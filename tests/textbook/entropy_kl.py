import math
import torch

def entropy(p, dim=-1, base=None):
    return cross_entropy_of(p, p, dim, base)

def cross_entropy_of(p, q, dim=-1, base=None):
    h = -(p * torch.log(q)).sum(dim)
    return h if base is None else h / math.log(base)

def kl_divergence(p, q, dim=-1, base=None):
    d = (p * torch.log(p / q)).sum(dim)
    return d if base is None else d / math.log(base)
