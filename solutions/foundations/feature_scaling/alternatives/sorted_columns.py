"""Order statistics from sorted columns, and all norms by one function."""

import torch


def quantile(x, fraction):
    ordered, position = x.double().sort(dim=0).values, fraction * (len(x) - 1)
    low = int(position)
    return torch.lerp(ordered[low], ordered[min(low + 1, len(x) - 1)], position - low)


def between(low, centre, high):
    def scaled(x):
        spread = quantile(x, high) - quantile(x, low)
        return ((x - quantile(x, centre)) / spread.masked_fill(spread == 0, 1)).to(x.dtype)

    return scaled


def normalized(order, dim):
    def scaled(x):
        norm = torch.linalg.vector_norm(x.double(), order, dim=dim, keepdim=True)
        return (x / norm.masked_fill(norm == 0, 1)).to(x.dtype)

    return scaled


def z_score(x):
    centred = (x - x.double().mean(0)).masked_fill((x == x[0]).all(0), 0)
    return (normalized(2, 0)(centred) * len(x) ** 0.5).to(x.dtype)


min_max, robust, max_abs = between(0, 0, 1), between(0.25, 0.5, 0.75), normalized(float("inf"), 0)
l1_normalize, l2_normalize, log1p_scale = normalized(1, 1), normalized(2, 1), torch.special.log1p
