"""Newton's method in the dtype of x, with w and b apart; Armijo's rule; no float64."""

import torch


def linear_regression(x, y, l2=0.0):
    if x.dim() != 2 or y.dim() != 1 or len(x) != len(y) or l2 < 0:
        raise ValueError(f"got {x.shape}, {y.shape}, {l2}")
    U, s, Vh = torch.linalg.svd(x - x.mean(0), full_matrices=False)
    kept = s > s[0] * (1e-6 if x.dtype == torch.float32 else 1e-13)
    w = ((y - y.mean()) @ U * (kept * s / (s * s + l2 + ~kept))) @ Vh
    return w, y.mean() - (x.mean(0) * w).sum()


def logistic_regression(x, y, l2=1.0):
    if x.dim() != 2 or y.dim() != 1 or len(x) != len(y) or l2 <= 0:
        raise ValueError(f"got {x.shape}, {y.shape}, {l2}")
    if sorted(set(y.tolist())) != [0, 1]:
        raise ValueError("both labels should occur, and no other")
    sign = y.to(x.dtype) * 2 - 1
    w, b = x.new_zeros(x.shape[1]), x.new_zeros(())

    def value(w, b):
        return torch.nn.functional.softplus(-sign * (x @ w + b)).sum() + l2 / 2 * w @ w

    for _ in range(60):
        q = torch.sigmoid(-sign * (x @ w + b))
        weights = q * (1 - q)
        slope = torch.cat([l2 * w - (sign * q) @ x, -(sign * q).sum()[None]])
        corner = x.T @ weights
        top = torch.cat([x.T @ (x * weights[:, None]) + l2 * torch.eye(len(w)).to(x), corner[:, None]], 1)
        bottom = torch.cat([corner, weights.sum()[None] + torch.finfo(x.dtype).tiny])
        step, t = torch.linalg.solve(torch.cat([top, bottom[None]]), slope), 1.0
        while t > 1e-4 and value(w - t * step[:-1], b - t * step[-1]) > value(w, b) - 1e-4 * t * (slope @ step):
            t /= 2
        w, b = w - t * step[:-1], b - t * step[-1]
    return w, b
