import torch

def kmeans(x, centroids, max_iters=100):
    labels = None
    for _ in range(max_iters):
        new = ((x[:, None, :] - centroids[None]) ** 2).sum(-1).argmin(1)
        if labels is not None and torch.equal(new, labels):
            break
        labels = new
        centroids = torch.stack([x[labels == k].mean(0) if (labels == k).any() else centroids[k] for k in range(len(centroids))])
    d = ((x[:, None, :] - centroids[None]) ** 2).sum(-1)
    return centroids, d.argmin(1), d.min(1).values.sum()

def kmeans_plus_plus(x, uniforms):
    chosen = [x[int(uniforms[0] * len(x))]]
    for u in uniforms[1:]:
        d = ((x[:, None] - torch.stack(chosen)) ** 2).sum(-1).min(1).values
        cum = d.cumsum(0)
        chosen.append(x[(cum > u * cum[-1]).nonzero()[0, 0]])
    return torch.stack(chosen)
