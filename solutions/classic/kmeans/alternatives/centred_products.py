"""The squares are expanded in float64, after one point was subtracted from all; two loops with a count of moves."""

import torch


def refuse(wrong, message):
    if wrong:
        raise ValueError(message)


def kmeans(x, centroids, max_iters=100):
    refuse(x.shape[1] != centroids.shape[1], "x and centroids should be equally wide")
    refuse(not len(x) or not len(centroids) or max_iters < 1, "there should be points, centroids and moves")
    origin = x[0].double()
    points, centres = x.double() - origin, centroids.double() - origin
    before, moves = None, 0
    while True:
        distances = (points * points).sum(1, keepdim=True) - 2 * points @ centres.T + (centres * centres).sum(1)
        labels = distances.argmin(1)
        if moves == max_iters or (before is not None and torch.equal(before, labels)):
            inertia = (points - centres[labels]).square().sum()
            return (centres + origin).to(x.dtype), labels, inertia.to(x.dtype)
        counts = torch.bincount(labels, minlength=len(centres))
        sums = torch.zeros_like(centres).index_add_(0, labels, points)
        centres = torch.where((counts > 0)[:, None], sums / counts.clamp(min=1)[:, None], centres)
        before, moves = labels, moves + 1


def kmeans_plus_plus(x, uniforms):
    refuse(len(uniforms) > len(x), "there should be no more uniforms than points")
    points, u = x.double() - x[0].double(), uniforms.double()
    rows, squared = [int(u[0] * len(x))], torch.full((len(x),), torch.inf, dtype=torch.float64, device=x.device)
    for k in range(1, len(u)):
        squared = torch.minimum(squared, (points - points[rows[-1]]).square().sum(1))
        cumulative = squared.cumsum(0)
        rows.append(int((cumulative <= u[k] * cumulative[-1]).sum()))
    return x[rows]
