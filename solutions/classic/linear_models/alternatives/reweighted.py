"""Iteratively reweighted least squares by QR of √weights times rows; a dual solution where columns outnumber rows."""

import torch


def refuse(wrong, message):
    if wrong:
        raise ValueError(message)


def linear_regression(x, y, l2=0.0):
    refuse(x.ndim != 2 or y.shape != x.shape[:1], "x should be (N, D), y (N,)")
    refuse(l2 < 0, "l2 should not be negative")
    mean, (N, D) = x.mean(0), x.shape
    centred, target = x - mean, y - y.mean()
    if l2 == 0:
        w = torch.linalg.pinv(centred) @ target
    elif N < D:
        w = centred.T @ torch.linalg.solve(centred @ centred.T + l2 * torch.eye(N).to(x), target)
    else:
        w = torch.cholesky_solve(
            (centred.T @ target)[:, None], torch.linalg.cholesky(centred.T @ centred + l2 * torch.eye(D).to(x))
        )[:, 0]
    return w, y.mean() - mean @ w


def logistic_regression(x, y, l2=1.0):
    refuse(x.ndim != 2 or y.shape != x.shape[:1], "x should be (N, D), y (N,)")
    refuse(not l2 > 0, "l2 should be positive")
    refuse(len(y.unique()) != 2 or y.min() != 0 or y.max() != 1, "labels should be 0 and 1")
    dtype, x, y = x.dtype, x.double(), y.double()
    rows = torch.cat([x, x.new_ones(len(x), 1)], 1)
    ridge = torch.cat([l2**0.5 * torch.eye(x.shape[1]).to(x), x.new_zeros(x.shape[1], 1)], 1)
    theta = x.new_zeros(x.shape[1] + 1)

    def slope(theta):
        return rows.T @ (torch.sigmoid(rows @ theta) - y) + ridge.T @ (ridge @ theta)

    for _ in range(200):
        g, z = slope(theta), rows @ theta
        if g.norm() < 1e-10 * len(x):
            break
        root = (torch.sigmoid(z) * torch.sigmoid(-z)).clamp(min=1e-250).sqrt()
        R = torch.linalg.qr(torch.cat([root[:, None] * rows, ridge]), mode="r").R
        step = torch.cholesky_solve(g[:, None], R, upper=True)[:, 0]
        while slope(theta - step) @ step < -1e-9 * step.norm():  # beyond the lowest point of this line
            step = step / 2
        theta = theta - step
    return theta[:-1].to(dtype), theta[-1].to(dtype)
