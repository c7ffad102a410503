"""Seven ways to scale features by hand. Statement: katas/foundations/feature_scaling/README.md.

Each takes x of (N, F), N samples of F features, and returns a tensor of the same shape and dtype.
Source: sklearn.preprocessing, numpy.log1p and torch.nn.functional.normalize.
"""

import torch
from torch import Tensor


def min_max(x: Tensor) -> Tensor:
    """(x − min) / (max − min), by column; 0 where a column is constant."""
    # TODO: take the least and the greatest number of each column, and put the formula together.
    raise NotImplementedError


def z_score(x: Tensor) -> Tensor:
    """(x − μ) / σ, by column, with μ = Σ x / N and σ² = Σ (x − μ)² / N; 0 where a column is constant."""
    # TODO: take the mean and the standard deviation of each column, and put the formula together.
    raise NotImplementedError


def max_abs(x: Tensor) -> Tensor:
    """x / max |x|, by column; 0 where a column is 0."""
    # TODO: take the largest distance from 0 in each column, and divide.
    raise NotImplementedError


def robust(x: Tensor) -> Tensor:
    """(x − median) / (Q3 − Q1), by column; x − median where Q1 = Q3."""
    # TODO: take the three quartiles of each column, interpolated linearly, and put the formula together.
    raise NotImplementedError


def log1p_scale(x: Tensor) -> Tensor:
    """log(1 + x), entry by entry, for x > −1."""
    # TODO: compute it so that a tiny x also keeps its digits.
    raise NotImplementedError


def l1_normalize(x: Tensor) -> Tensor:
    """x / Σ |x|, by row; 0 where a row is 0."""
    # TODO: sum the absolute values of each row, and divide.
    raise NotImplementedError


def l2_normalize(x: Tensor) -> Tensor:
    """x / √(Σ x²), by row; 0 where a row is 0."""
    # TODO: take the length of each row, and divide.
    raise NotImplementedError
