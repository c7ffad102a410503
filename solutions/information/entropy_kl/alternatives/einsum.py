"""The sums as einsums, and the base in the logarithms."""

import math

import torch


def _sum(p, logs, dim, base):
    if base is not None and (base <= 0 or base == 1):
        raise ValueError(f"no logarithm to base {base}")
    logs = logs * math.log2(math.e) / math.log2(base or math.e)
    return torch.einsum("...k,...k->...", p.movedim(dim, -1), logs.movedim(dim, -1))


def entropy(p, dim=-1, base=None):
    return _sum(p, -p.masked_fill(p == 0, 1).log(), dim, base)


def cross_entropy_of(p, q, dim=-1, base=None):
    return _sum(p, -q.masked_fill(p + q == 0, 1).log(), dim, base)


def kl_divergence(p, q, dim=-1, base=None):
    return _sum(p, p.masked_fill(p == 0, 1).log() - q.masked_fill(p == 0, 1).log(), dim, base)
