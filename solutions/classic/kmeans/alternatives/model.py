"""A class with fit and predict, scatter_reduce for the means, and the first index above a threshold by argmax."""

import torch


class Lloyd:
    def __init__(self, centroids, max_iters):
        assert max_iters >= 1
        self.centroids, self.max_iters = centroids, max_iters

    def predict(self, x):
        distances = torch.stack([(x - c).pow(2).sum(dim=1) for c in self.centroids], dim=1)
        labels = distances.argmin(1)
        return labels, distances.gather(1, labels[:, None]).sum()

    def fit(self, x):
        assert x.ndim == 2 and x.shape[1] == self.centroids.shape[1]
        assert x.shape[0] > 0 and self.centroids.shape[0] > 0
        labels, inertia = self.predict(x)
        for _ in range(self.max_iters):
            index = labels[:, None].expand(-1, x.shape[1])
            self.centroids = self.centroids.scatter_reduce(0, index, x, "mean", include_self=False)
            old, (labels, inertia) = labels, self.predict(x)
            if (old == labels).all():
                break
        return self.centroids, labels, inertia


def kmeans(x, centroids, max_iters=100):
    return Lloyd(centroids, max_iters).fit(x)


def kmeans_plus_plus(x, uniforms):
    assert uniforms.shape[0] <= x.shape[0]
    rows = [torch.floor(uniforms[0] * x.shape[0]).long()]
    squared = torch.full_like(x[:, 0], torch.inf)
    for u in uniforms[1:].unbind():
        squared = torch.minimum(squared, (x - x[rows[-1]]).square().sum(-1))
        cumulative = squared.cumsum(0)
        rows.append((cumulative > u * cumulative[-1]).int().argmax())
    return x[torch.stack(rows)]
