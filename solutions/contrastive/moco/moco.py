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
    # --- solution
    # TODO: divide each row of all three by its norm, and decide which of them may receive a gradient.
    # TODO: put the cosines with the positives and with the negatives side by side: (N, 1 + K) logits.
    # TODO: take the mean cross-entropy over the queries.
    # TODO: then make it robust: check the shapes and the temperature, and raise ValueError; small temperatures.
    if query.dim() != 2 or key.shape != query.shape:
        raise ValueError(f"query and key should both be (N, D), got {tuple(query.shape)} and {tuple(key.shape)}")
    if queue.dim() != 2 or queue.shape[1] != query.shape[1]:
        raise ValueError(f"queue should be (K, D), as wide as query, {query.shape[1]}, got {tuple(queue.shape)}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    q, k, n = (F.normalize(rows, dim=1) for rows in (query, key.detach(), queue.detach()))
    positives = (q * k).sum(1, keepdim=True)  # (N, 1)
    negatives = q @ n.mT  # (N, K)
    logits = torch.cat([positives, negatives], dim=1) / temperature  # (N, 1 + K)
    labels = q.new_zeros(len(q), dtype=torch.int64)
    return F.cross_entropy(logits, labels)
    # --- end


def momentum_update_(key_params: Iterable[Tensor], query_params: Iterable[Tensor], m: float = 0.999) -> None:
    """k ← m·k + (1 − m)·q for each pair of parameters, in k's own memory.

    Args:
        key_params, query_params: as many parameters of the same shapes in the same order; either may be a generator.
        m: the momentum, between 0 and 1.
    Raises: ValueError if m is not between 0 and 1, or if key_params and query_params differ in number.
    Source: arXiv:1911.05722, eq. 2.
    """
    # --- solution
    # TODO: move each parameter of the key encoder towards its partner in the query encoder, in place.
    # TODO: then make it robust: check m and the numbers of parameters, and raise ValueError; half precision.
    if not 0 <= m <= 1:
        raise ValueError(f"m should be between 0 and 1, got {m}")
    with torch.no_grad():
        for k, q in zip(key_params, query_params, strict=True):  # raises ValueError where one ends before the other
            k.mul_(m).add_(q, alpha=1 - m)
    # --- end


class FeatureQueue:
    """The last `size` keys: key number c, counted from 0 over all batches, lies in row c mod size of `queue`.

    Args:
        dim: D, the length of a key.
        size: K, the number of rows.
    Attributes:
        queue: (size, dim), float32; rows that were never written may hold anything.
    """

    def __init__(self, dim: int, size: int) -> None:
        # --- solution
        # TODO: make room for the keys, and remember how many have come.
        self.queue = torch.zeros(size, dim)
        self.count = 0
        # --- end

    def enqueue(self, keys: Tensor) -> None:
        """Writes keys (B, dim) over the oldest rows; of more than `size` keys the last `size` remain.

        Raises: ValueError if keys is not (B, dim).
        """
        # --- solution
        # TODO: find the keys that remain, and the row of each.
        # TODO: write them, and count all keys that came. Then check the shape, and raise ValueError.
        size, dim = self.queue.shape
        if keys.dim() != 2 or keys.shape[1] != dim:
            raise ValueError(f"keys should be (B, {dim}), got {tuple(keys.shape)}")
        kept = keys[-size:].detach()
        first = self.count + len(keys) - len(kept)
        rows = torch.arange(first, first + len(kept)) % size
        self.queue[rows] = kept
        self.count += len(keys)
        # --- end
