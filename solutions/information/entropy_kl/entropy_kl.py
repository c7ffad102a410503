"""Entropy, cross-entropy and KL divergence by hand. Statement: katas/information/entropy_kl/README.md."""

import math

import torch
from torch import Tensor


def entropy(p: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    """H(p) = −Σ_i p_i log p_i

    Args:
        p: probabilities along `dim`.
        dim: the axis that is summed over.
        base: of the logarithm; None is the natural one.
    Returns: the shape of p without `dim`, in its dtype.
    Raises: ValueError if base is 1, 0 or negative.
    Source: Shannon, A Mathematical Theory of Communication (1948), section 6.
    """
    # --- solution
    # TODO: sum −p log p along `dim`, or call one of the functions below.
    return cross_entropy_of(p, p, dim, base)
    # --- end


def cross_entropy_of(p: Tensor, q: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    """H(p, q) = −Σ_i p_i log q_i

    Args:
        p, q: probabilities along `dim`, of one shape; the others as in entropy.
    Returns and raises: as entropy.
    """
    # --- solution
    # TODO: sum −p log q along `dim`.
    # TODO: turn the natural logarithm into the one to `base`.
    # TODO: then make it robust: refuse a base to which there is no logarithm; what if p is 0, q is 0, or both?
    if base is not None and (base <= 0 or base == 1):
        raise ValueError(f"base should be positive and not 1, got {base}")
    log_q = torch.where((p == 0) & (q == 0), 1, q).log()  # 0 log 0 = 0: the 1 keeps −∞ out of values and gradients
    nats = -(p * log_q).sum(dim)
    return nats if base is None else nats / math.log(base)
    # --- end


def kl_divergence(p: Tensor, q: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    """KL(p ‖ q) = Σ_i p_i log (p_i / q_i) = H(p, q) − H(p)

    Args, returns and raises: as cross_entropy_of.
    Source: Kullback and Leibler, On Information and Sufficiency (1951).
    """
    # --- solution
    # TODO: compute it from the other two, or as a sum of its own.
    return cross_entropy_of(p, q, dim, base) - entropy(p, dim, base)
    # --- end
