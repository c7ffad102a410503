"""Only the entries that count are looked at; the others stay 0."""

import math

import torch


def _total(keep, p, q, dim, base):
    assert base is None or base > 0
    assert base != 1
    terms = torch.zeros_like(p)
    terms[keep] = -p[keep] * q[keep].log() / math.log(base or math.e)
    return terms.sum(dim)


def entropy(p, dim=-1, base=None):
    return _total(p > 0, p, p, dim, base)


def cross_entropy_of(p, q, dim=-1, base=None):
    return _total((p > 0) | (q > 0), p, q, dim, base)


def kl_divergence(p, q, dim=-1, base=None):
    return _total(p > 0, p, q, dim, base) - _total(p > 0, p, p, dim, base)
