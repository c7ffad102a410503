"""Entropy of a stream of logits by hand. Statement: katas/information/streaming_entropy/README.md."""

import torch
from torch import Tensor


class StreamingEntropy:
    """log Z = log Σ_i exp(x_i) and H = −Σ_i p_i log p_i, p_i = exp(x_i) / Z, of all logits x_i of a row so far

    With M = max_i x_i, z = Σ_i exp(x_i − M) and s = Σ_i (x_i − M) exp(x_i − M): log Z = M + log z, H = log z − s / z.
    If M becomes M' = M + δ, z becomes exp(−δ) z, and s becomes exp(−δ) (s − δ z).

    Source: z is updated as in arXiv:1805.02867, algorithm 3; their m and d are our M and z.
    """

    def __init__(self, rows: int) -> None:
        # TODO: three numbers for each row are enough. What are they while nothing has come?
        raise NotImplementedError

    def update(self, logits: Tensor) -> None:
        """Adds more logits.

        Args:
            logits: (rows, n), n at least 0, float32 or float64.
        Raises: ValueError if the number of rows differs, or a logit is NaN.
        """
        # TODO: refuse what does not fit; what if n is 0?
        # TODO: find M, z and s of these logits alone, in float64 and without a graph. What if all are −∞?
        # TODO: add them to the state.
        raise NotImplementedError

    def merge(self, other: "StreamingEntropy") -> None:
        """Adds all that another one has seen, and leaves it as it is.

        Raises: ValueError if the number of rows differs.
        """
        # TODO: refuse what does not fit, and add the other one's state. It may be this one.
        raise NotImplementedError

    def log_sum_exp(self) -> Tensor:
        """log Z, (rows,), in float64. Raises: ValueError if a row has no finite logit yet."""
        # TODO: from the state.
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """H in nats, (rows,), in float64. Raises: ValueError if a row has no finite logit yet."""
        # TODO: from the state.
        raise NotImplementedError

    raise NotImplementedError
