"""An inclusive scan, and a linear recurrence by it. Statement: katas/foundations/linear_scan/README.md."""

from collections.abc import Callable

import torch
from torch import Tensor


def associative_scan(op: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    """y_i = x_0 ∘ x_1 ∘ … ∘ x_i, where ∘ is op

    Args:
        op: associative; (earlier, later) -> their products row by row, for two blocks of one shape (m, …), m ≥ 1.
        x: (n, …), n ≥ 1, any dtype.
    Returns: (n, …), in the dtype of x.
    Raises: ValueError if n = 0.
    Source: Hillis and Steele, Data parallel algorithms (1986), doi:10.1145/7902.7903.
    """
    # TODO: refuse an x without rows.
    # TODO: in each round combine many pairs by one call of op. After which rounds does row i hold which products?
    # TODO: how many rounds are needed for any n?
    raise NotImplementedError


def linear_recurrence(a: Tensor, b: Tensor, h0: Tensor | None = None) -> Tensor:
    """h_t = a_t h_{t−1} + b_t for t = 1 … T, entry by entry

    Args:
        a, b: (B, T, D), T ≥ 1.
        h0: (B, D), the state before the first step; None: zeros.
    Returns: (B, T, D), h_1 to h_T, in the dtype of b.
    Raises: ValueError if the shapes disagree.
    Source: Martin and Cundy, arXiv:1709.04057, section 2.
    """
    # TODO: refuse shapes that disagree.
    # TODO: a step is the map h -> a h + b. What is the map of two steps? Write it as an op on rows of pairs (a, b).
    # TODO: h0 enters the first step alone.
    # TODO: scan along time, which has to be the first axis there.
    raise NotImplementedError
