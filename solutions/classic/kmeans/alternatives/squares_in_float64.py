"""The squares are expanded in float64 around the origin, and the smallest of them are added up."""

import torch
from torch import Tensor


def squared(x: Tensor, centres: Tensor) -> Tensor:
    return (x * x).sum(dim=1, keepdim=True) - 2 * (x @ centres.T) + (centres * centres).sum(dim=1)  # (N, K)


def kmeans(x: Tensor, centroids: Tensor, max_iters: int = 100) -> tuple[Tensor, Tensor, Tensor]:
    assert x.size(1) == centroids.size(1)
    assert x.size(0) > 0 and centroids.size(0) > 0
    assert max_iters >= 1
    points, centres = x.double(), centroids.double()
    smallest, labels = squared(points, centres).min(dim=1)
    for _ in range(max_iters):
        mine = [points[labels == k] for k in range(len(centres))]
        centres = torch.stack([m.mean(dim=0) if len(m) else c for m, c in zip(mine, centres, strict=True)])
        old = labels
        smallest, labels = squared(points, centres).min(dim=1)
        if (labels == old).all():
            break
    return centres.to(x.dtype), labels, smallest.sum().to(x.dtype)


def kmeans_plus_plus(x: Tensor, uniforms: Tensor) -> Tensor:
    N = x.size(0)
    assert uniforms.size(0) <= N
    points, u = x.double(), uniforms.double()
    chosen = [int(N * uniforms[0])]
    for k in range(1, len(u)):
        nearest = squared(points, points[chosen]).amin(dim=1)
        nearest[chosen] = 0.0
        sums = nearest.cumsum(dim=0)
        chosen.append(int((sums > u[k] * sums[-1]).int().argmax()))
    return x[chosen]
