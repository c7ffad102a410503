"""Moves until no centroid moves, and assigns once more; the best centroid is kept while going through all of them."""

import torch


def assign(x, centroids):
    best, labels = torch.full_like(x[:, 0], torch.inf), torch.zeros(len(x), dtype=torch.int64, device=x.device)
    for k in range(centroids.shape[0]):
        distance = torch.linalg.vector_norm(x - centroids[k], dim=1)
        nearer = distance < best
        best = torch.where(nearer, distance, best)
        labels[nearer] = k
    return labels, best


def kmeans(x, centroids, max_iters=100):
    assert x.shape[1] == centroids.shape[1], "widths differ"
    assert len(x) >= 1 and len(centroids) >= 1 and max_iters >= 1
    for _ in range(max_iters):
        labels, _ = assign(x, centroids)
        moved = centroids.clone()
        for k in labels.unique():
            moved[k] = x[labels == k].mean(0)
        if torch.equal(moved, centroids):
            break
        centroids = moved
    labels, best = assign(x, centroids)
    return centroids, labels, best.square().sum()


def kmeans_plus_plus(x, uniforms):
    N = x.shape[0]
    assert uniforms.shape[0] <= N
    left = torch.ones(N, dtype=torch.bool, device=x.device)
    rows, squared = [int(uniforms[0] * N)], None
    for u in uniforms[1:].tolist():
        left[rows[-1]] = False
        new = (x - x[rows[-1]]).square().sum(1)
        squared = new if squared is None else torch.minimum(squared, new)
        sums = squared.double().cumsum(0)
        rows.append(int(torch.nonzero(left & (sums > u * sums[-1]))[0]))
    return x[torch.tensor(rows, device=x.device)]
