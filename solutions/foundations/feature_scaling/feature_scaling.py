"""Seven ways to scale features by hand. Statement: katas/foundations/feature_scaling/README.md.

Each takes x of (N, F), N samples of F features, and returns a tensor of the same shape and dtype.
Source: sklearn.preprocessing, numpy.log1p and torch.nn.functional.normalize.
"""

import torch
from torch import Tensor


def min_max(x: Tensor) -> Tensor:
    """(x − min) / (max − min), by column; 0 where a column is constant."""
    # --- solution
    # TODO: take the least and the greatest number of each column, and put the formula together.
    wide = widened(x)
    low, high = wide.amin(0), wide.amax(0)
    return divided(wide - low, high - low).to(x.dtype)
    # --- end


def z_score(x: Tensor) -> Tensor:
    """(x − μ) / σ, by column, with μ = Σ x / N and σ² = Σ (x − μ)² / N; 0 where a column is constant."""
    # --- solution
    # TODO: take the mean and the standard deviation of each column, and put the formula together.
    wide = widened(x)
    shifted = wide - wide[0]  # changes no result, but a constant column is exactly 0, and so is its mean
    return divided(shifted - shifted.mean(0), shifted.std(0, correction=0)).to(x.dtype)
    # --- end


def max_abs(x: Tensor) -> Tensor:
    """x / max |x|, by column; 0 where a column is 0."""
    # --- solution
    # TODO: take the largest distance from 0 in each column, and divide.
    return divided(x, x.abs().amax(0))
    # --- end


def robust(x: Tensor) -> Tensor:
    """(x − median) / (Q3 − Q1), by column; x − median where Q1 = Q3."""
    # --- solution
    # TODO: take the three quartiles of each column, interpolated linearly, and put the formula together.
    wide = widened(x)
    q1, median, q3 = torch.quantile(wide, wide.new_tensor([0.25, 0.5, 0.75]), dim=0)
    return divided(wide - median, q3 - q1).to(x.dtype)
    # --- end


def log1p_scale(x: Tensor) -> Tensor:
    """log(1 + x), entry by entry, for x > −1."""
    # --- solution
    # TODO: compute it so that a tiny x also keeps its digits.
    return torch.log1p(x)
    # --- end


def l1_normalize(x: Tensor) -> Tensor:
    """x / Σ |x|, by row; 0 where a row is 0."""
    # --- solution
    # TODO: sum the absolute values of each row, and divide.
    wide = widened(x)
    return divided(wide, wide.abs().sum(1, keepdim=True)).to(x.dtype)
    # --- end


def l2_normalize(x: Tensor) -> Tensor:
    """x / √(Σ x²), by row; 0 where a row is 0."""
    # --- solution
    # TODO: take the length of each row, and divide.
    wide = widened(x)
    return divided(wide, torch.linalg.vector_norm(wide, dim=1, keepdim=True)).to(x.dtype)


def widened(x: Tensor) -> Tensor:
    """In float32 where it is in half precision, for sums, squares and differences that float16 cannot hold."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def divided(x: Tensor, scale: Tensor) -> Tensor:
    """x / scale; where the scale is 0, x itself. Then no gradient passes through a quotient by 0."""
    return x / torch.where(scale == 0, 1, scale)
    # --- end
