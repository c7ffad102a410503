"""Momentum contrast by hand. Statement: katas/contrastive/moco/README.md."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor


def moco_loss(query: Tensor, key: Tensor, queue: Tensor, temperature: float = 0.07) -> Tensor:
    """L = −1/N Σ_i log(exp(cos(q_i, k_i)/τ) / (exp(cos(q_i, k_i)/τ) + Σ_j exp(cos(q_i, n_j)/τ)))

    Args:
        query: (N, D), rows q_i, the only input that receives a gradient.
        key: (N, D), rows k_i; row i is the positive of query row i.
        queue: (K, D), rows n_j, the negatives of every query.
        temperature: τ, above 0.
    Returns: a scalar, in the dtype of query.
    Raises: ValueError if the shapes do not fit, or if the temperature is not above 0.
    Source: arXiv:1911.05722, eq. 1, where q_i, k_i and n_j have length 1 already; k_i is their k₊.
    """
    # TODO: divide each row of all three by its norm, and decide which of them may receive a gradient.
    # TODO: put the cosines with the positives and with the negatives side by side: (N, 1 + K) logits.
    # TODO: take the mean cross-entropy over the queries.
    # TODO: then make it robust: check the shapes and the temperature, and raise ValueError; small temperatures.
    raise NotImplementedError


def momentum_update_(key_params: Iterable[Tensor], query_params: Iterable[Tensor], m: float = 0.999) -> None:
    """k ← m·k + (1 − m)·q for each pair of parameters, in k's own memory.

    Args:
        key_params, query_params: as many parameters of the same shapes in the same order; either may be a generator.
        m: the momentum, between 0 and 1.
    Raises: ValueError if m is not between 0 and 1, or if key_params and query_params differ in number.
    Source: arXiv:1911.05722, eq. 2.
    """
    # TODO: move each parameter of the key encoder towards its partner in the query encoder, in place.
    # TODO: then make it robust: check m and the numbers of parameters, and raise ValueError; half precision.
    raise NotImplementedError


class FeatureQueue:
    """The last `size` keys: key number c, counted from 0 over all batches, lies in row c mod size of `queue`.

    Args:
        dim: D, the length of a key.
        size: K, the number of rows.
    Attributes:
        queue: (size, dim), float32; rows that were never written may hold anything.
    """

    def __init__(self, dim: int, size: int) -> None:
        # TODO: make room for the keys, and remember how many have come.
        raise NotImplementedError

    def enqueue(self, keys: Tensor) -> None:
        """Writes keys (B, dim) over the oldest rows; of more than `size` keys the last `size` remain.

        Raises: ValueError if keys is not (B, dim).
        """
        # TODO: find the keys that remain, and the row of each.
        # TODO: write them, and count all keys that came. Then check the shape, and raise ValueError.
        raise NotImplementedError
