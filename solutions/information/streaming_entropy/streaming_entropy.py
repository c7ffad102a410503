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
        # --- solution
        # TODO: three numbers for each row are enough. What are they while nothing has come?
        self.rows = rows
        self.M = torch.full((rows,), -torch.inf, dtype=torch.float64)
        self.z = torch.zeros(rows, dtype=torch.float64)
        self.s = torch.zeros(rows, dtype=torch.float64)
        # --- end

    def update(self, logits: Tensor) -> None:
        """Adds more logits.

        Args:
            logits: (rows, n), n at least 0, float32 or float64.
        Raises: ValueError if the number of rows differs, or a logit is NaN.
        """
        # --- solution
        # TODO: refuse what does not fit; what if n is 0?
        # TODO: find M, z and s of these logits alone, in float64 and without a graph. What if all are −∞?
        # TODO: add them to the state.
        if logits.shape[0] != self.rows:
            raise ValueError(f"logits should have {self.rows} rows, got {logits.shape[0]}")
        if logits.isnan().any():
            raise ValueError("logits should not be NaN")
        if logits.shape[1] == 0:
            return
        x = logits.detach().double()
        M = x.amax(1)  # (rows,)
        d = torch.where(x > -torch.inf, x - M[:, None], -torch.inf)  # (rows, n), and no −∞ − (−∞)
        e = d.exp()
        self._add(M, e.sum(1), (e * torch.where(e > 0, d, 0)).sum(1))
        # --- end

    def merge(self, other: "StreamingEntropy") -> None:
        """Adds all that another one has seen, and leaves it as it is.

        Raises: ValueError if the number of rows differs.
        """
        # --- solution
        # TODO: refuse what does not fit, and add the other one's state. It may be this one.
        if other.rows != self.rows:
            raise ValueError(f"other should have {self.rows} rows, got {other.rows}")
        self._add(other.M, other.z, other.s)
        # --- end

    def log_sum_exp(self) -> Tensor:
        """log Z, (rows,), in float64. Raises: ValueError if a row has no finite logit yet."""
        # --- solution
        # TODO: from the state.
        self._refuse_empty()
        return self.M + self.z.log()
        # --- end

    def entropy(self) -> Tensor:
        """H in nats, (rows,), in float64. Raises: ValueError if a row has no finite logit yet."""
        # --- solution
        # TODO: from the state.
        self._refuse_empty()
        return self.z.log() - self.s / self.z
        # --- end

    # --- solution
    def _add(self, M: Tensor, z: Tensor, s: Tensor) -> None:
        """Both are brought to the larger maximum; a row of −∞ alone counts nothing."""
        largest = torch.maximum(self.M, M)
        total_z, total_s = torch.zeros_like(z), torch.zeros_like(s)
        for its_M, its_z, its_s in ((self.M, self.z, self.s), (M, z, s)):
            d = torch.where(its_M > -torch.inf, its_M - largest, 0)
            total_z = total_z + d.exp() * its_z
            total_s = total_s + d.exp() * (its_s + d * its_z)
        self.M, self.z, self.s = largest, total_z, total_s

    def _refuse_empty(self) -> None:
        if (self.z == 0).any():
            raise ValueError("each row should have a finite logit first")

    # --- end
