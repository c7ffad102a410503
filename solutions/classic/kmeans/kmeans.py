"""k-means by hand. Statement: katas/classic/kmeans/README.md."""

import torch
from torch import Tensor


def kmeans(x: Tensor, centroids: Tensor, max_iters: int = 100) -> tuple[Tensor, Tensor, Tensor]:
    """Lloyd's algorithm for min Σ_n ‖x_n − c_{l_n}‖² from a given start

    Args:
        x: (N, D), the points.
        centroids: (K, D), the start.
        max_iters: how many times the centroids move at most.
    Returns: centroids (K, D), labels (N,) int64 and inertia (), the sum above. Labels and inertia belong to the
        centroids that are returned.
    Raises: ValueError if x and centroids differ in D, one of them has no rows, or max_iters < 1.
    Source: Lloyd, Least squares quantization in PCM (1982).
    """
    # --- solution
    # TODO: refuse another width, no rows, and max_iters below 1.
    # TODO: label each point with its nearest centroid.
    # TODO: move each centroid to the mean of its points. What if it has none?
    # TODO: repeat both until no label changes, or max_iters moves were made; then add up the squared distances.
    # TODO: then make it robust: how exact are the distances of points far from the origin in float32?
    if x.shape[1] != centroids.shape[1]:
        raise ValueError(f"centroids should be as wide as x, {x.shape[1]}, got {centroids.shape[1]}")
    if len(x) == 0 or len(centroids) == 0:
        raise ValueError(f"there should be points and centroids, got {len(x)} and {len(centroids)}")
    if max_iters < 1:
        raise ValueError(f"max_iters should be at least 1, got {max_iters}")

    before = None
    for moves in range(max_iters + 1):
        distances = torch.cdist(x, centroids, compute_mode="donot_use_mm_for_euclid_dist")  # (N, K)
        labels = distances.argmin(dim=1)  # of equal ones, the first
        if moves == max_iters or (before is not None and torch.equal(labels, before)):
            break
        before = labels
        counts = labels.bincount(minlength=len(centroids))[:, None]  # (K, 1)
        sums = torch.zeros_like(centroids).index_add(0, labels, x)  # (K, D)
        centroids = torch.where(counts > 0, sums / counts, centroids)
    inertia = (x - centroids[labels]).square().sum()
    return centroids, labels, inertia
    # --- end


def kmeans_plus_plus(x: Tensor, uniforms: Tensor) -> Tensor:
    """Draws rows of x: row n is next with probability d_n² / Σ d², where d_n is its distance to the nearest row drawn

    Args:
        x: (N, D), distinct points.
        uniforms: (K,), u_k in [0, 1). The first row is ⌊u_0 N⌋; each next is the first n with
            d_0² + … + d_n² > u_k Σ d².
    Returns: (K, D), rows of x.
    Raises: ValueError if K > N.
    Source: Arthur and Vassilvitskii, k-means++: the advantages of careful seeding (2007), section 2.2.
    """
    # --- solution
    # TODO: refuse more draws than points.
    # TODO: draw the first row: all are equally probable.
    # TODO: draw each next one by the cumulative sum of the squared distances to the nearest row drawn so far.
    # TODO: then make it robust: no row may come twice, even if u is 0 or nearly 1.
    N, K = len(x), len(uniforms)
    if K > N:
        raise ValueError(f"there should be at most as many uniforms as points, {N}, got {K}")

    chosen = [int(uniforms[0] * N)]
    squared = (x - x[chosen[0]]).square().sum(dim=1)  # (N,) to the nearest chosen row
    for u in uniforms[1:]:
        cumulative = squared.cumsum(dim=0)
        chosen.append(int(torch.searchsorted(cumulative, u * cumulative[-1], right=True)))
        squared = torch.minimum(squared, (x - x[chosen[-1]]).square().sum(dim=1))
    return x[chosen]
    # --- end
