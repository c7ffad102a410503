"""InfoNCE with hard negatives. Statement: katas/contrastive/hard_negatives/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def info_nce_hard(features: Tensor, temperature: float = 0.1, top_k: int = 10) -> Tensor:
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / (exp(s(i, i⁺)/τ) + Σ_{j∈H(i)} exp(s(i, j)/τ)))

    s(i, j) is the cosine similarity of rows i and j; i⁺ = (i + N) mod 2N is the other view of sample i. H(i) are the
    min(top_k, 2N − 2) rows most similar to row i, of all rows but i and i⁺.

    Args:
        features: (2N, D); rows i and i + N are two views of one sample.
        temperature: τ, above 0.
        top_k: how many negatives of each anchor count, at least 1.
    Returns: a scalar, in the dtype of features.
    Raises: ValueError if features is not 2-D, if its number of rows is odd, if temperature is not above 0, or if
        top_k < 1.
    Source: arXiv:2002.05709, eq. 1, of whose negatives only the hardest count, as in arXiv:2010.06682.
    """
    # --- solution
    # TODO: take the cosine similarities of all pairs of rows, divided by the temperature: (2N, 2N).
    # TODO: take each anchor's positive, and its hardest negatives.
    # TODO: take the mean loss of all anchors.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    if features.dim() != 2 or len(features) % 2:
        raise ValueError(f"features should be (2N, D), got {tuple(features.shape)}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    if top_k < 1:
        raise ValueError(f"top_k should be at least 1, got {top_k}")
    rows, N = len(features), len(features) // 2
    unit = F.normalize(features, dim=1)
    logits = unit @ unit.mT / temperature  # (2N, 2N)
    positive = torch.cat([logits.diagonal(N), logits.diagonal(-N)])[:, None]  # (2N, 1)
    same_sample = torch.eye(N, dtype=torch.bool, device=features.device).repeat(2, 2)  # itself and the positive
    negatives = logits.masked_fill(same_sample, -torch.inf)
    hardest = negatives.topk(min(top_k, rows - 2), dim=1).values  # (2N, k)
    first = torch.zeros(rows, dtype=torch.long, device=features.device)
    return F.cross_entropy(torch.cat([positive, hardest], dim=1), first)
    # --- end
