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
    # TODO: refuse another width, no rows, and max_iters below 1.
    # TODO: label each point with its nearest centroid.
    # TODO: move each centroid to the mean of its points. What if it has none?
    # TODO: repeat both until no label changes, or max_iters moves were made; then add up the squared distances.
    # TODO: then make it robust: how exact are the distances of points far from the origin in float32?
    raise NotImplementedError


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
    # TODO: refuse more draws than points.
    # TODO: draw the first row: all are equally probable.
    # TODO: draw each next one by the cumulative sum of the squared distances to the nearest row drawn so far.
    # TODO: then make it robust: no row may come twice, even if u is 0 or nearly 1.
    raise NotImplementedError
