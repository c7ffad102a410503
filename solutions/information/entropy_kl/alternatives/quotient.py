"""Quotients in float64; a 0 that counts for nothing is replaced by the smallest number."""

import math

TINY = 1e-300


def _unit(base):
    if base is not None and not (base > 0 and base != 1):
        raise ValueError("base")
    return math.log(base or math.e)


def entropy(p, dim=-1, base=None):
    return (-p * p.double().clamp(min=TINY).log()).sum(dim).div(_unit(base)).to(p.dtype)


def cross_entropy_of(p, q, dim=-1, base=None):
    q = q.double().masked_fill((p == 0) & (q == 0), TINY)
    return (-p * q.log()).sum(dim).div(_unit(base)).to(p.dtype)


def kl_divergence(p, q, dim=-1, base=None):
    quotient = p.double().clamp(min=TINY) / q.double().masked_fill(p == 0, 1.0)
    return (p * quotient.log()).sum(dim).div(_unit(base)).to(p.dtype)
