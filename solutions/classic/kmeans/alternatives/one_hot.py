"""Means are products with a one-hot table; labels of -1 before the first step; shares in place of sums."""

import torch
import torch.nn.functional as F


def kmeans(x, centroids, max_iters=100):
    if centroids.shape[-1] != x.shape[-1] or not x.numel() or not centroids.numel() or max_iters <= 0:
        raise ValueError(f"these do not fit: {x.shape}, {centroids.shape}, {max_iters}")
    centre = x.mean(0)
    points, c = x - centre, centroids - centre
    labels = torch.full((x.shape[0],), -1, dtype=torch.long, device=x.device)
    for step in range(max_iters + 1):
        old, labels = labels, torch.addmm(c.square().sum(1)[None, :], points, c.T, alpha=-2).argmin(1)
        if torch.equal(old, labels) or step == max_iters:
            break
        members = F.one_hot(labels, len(c)).to(x.dtype)  # (N, K)
        count = members.sum(0)[:, None]
        c = torch.where(count == 0, c, members.T @ points / count.clamp(min=1))
    return c + centre, labels, (points - c[labels]).pow(2).sum()


def kmeans_plus_plus(x, uniforms):
    if uniforms.numel() > x.shape[0]:
        raise ValueError("there are more centroids than points")
    centroids = x[(uniforms[0] * x.shape[0]).floor().long()][None]
    for u in uniforms[1:]:
        shares = torch.stack([(x - c).square().sum(1) for c in centroids]).amin(0).cumsum(0)
        row = torch.searchsorted(shares / shares[-1], u.reshape(1), right=True)
        centroids = torch.cat([centroids, x[row]])
    return centroids
