"""InfoNCE in chunks. Statement: katas/contrastive/info_nce_chunked/README.md."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def info_nce(features: Tensor, temperature: float = 0.1, chunk_size: int = 256) -> Tensor:
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / Σ_{k≠i} exp(s(i, k)/τ)), without a table of size (2N, 2N)

    s(i, k) is the cosine similarity of rows i and k; i⁺ = (i + N) mod 2N is the other view of sample i.

    Args:
        features: (2N, D); rows i and i + N are two views of one sample.
        temperature: τ, above 0.
        chunk_size: how many rows are compared with all rows at a time, 1 or more.
    Returns: a scalar, in the dtype of features.
    Raises: ValueError if features is not 2-D, if its number of rows is odd, if temperature is not above 0, or if
        chunk_size is below 1.
    Source: arXiv:2002.05709, eq. 1, for the loss; arXiv:1604.06174, for computing once more instead of keeping.
    """
    # --- solution
    # TODO: compute the losses of a few rows from their similarities with all rows.
    # TODO: take chunk after chunk, and keep no table of a chunk for the backward pass.
    # TODO: take the mean loss of all rows.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    if features.dim() != 2:
        raise ValueError(f"features should be (2N, D), got {tuple(features.shape)}")
    rows = len(features)  # 2N
    if rows % 2:
        raise ValueError(f"features should have an even number of rows, got {rows}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    if chunk_size < 1:
        raise ValueError(f"chunk_size should be at least 1, got {chunk_size}")

    def logits_of(anchors: Tensor, unit: Tensor) -> Tensor:
        logits = unit[anchors] @ unit.mT / temperature  # (chunk, 2N)
        return logits.scatter(1, anchors[:, None], -torch.inf)

    def positives_of(anchors: Tensor) -> Tensor:
        return (anchors + rows // 2) % rows

    class Losses(torch.autograd.Function):
        """The losses of a chunk. Only the inputs are kept: the backward pass computes the logits once more."""

        @staticmethod
        def forward(ctx: Any, anchors: Tensor, unit: Tensor) -> Tensor:
            ctx.save_for_backward(anchors, unit)
            return F.cross_entropy(logits_of(anchors, unit), positives_of(anchors), reduction="none")

        @staticmethod
        def backward(ctx: Any, upstream: Tensor) -> tuple[None, Tensor]:
            anchors, unit = ctx.saved_tensors
            off = logits_of(anchors, unit).softmax(1)  # the gradient on the logits: shares, less 1 for the positive
            off[torch.arange(len(anchors), device=off.device), positives_of(anchors)] -= 1
            off *= upstream[:, None] / temperature
            gradient = off.mT @ unit[anchors]  # of all rows as candidates
            gradient[anchors] += off @ unit  # of the chunk's rows as anchors
            return None, gradient

    unit = F.normalize(features, dim=1)
    chunks = torch.arange(rows, device=features.device).split(chunk_size)
    return torch.cat([Losses.apply(chunk, unit) for chunk in chunks]).mean()
    # --- end
