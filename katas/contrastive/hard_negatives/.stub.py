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
    # TODO: take the cosine similarities of all pairs of rows, divided by the temperature: (2N, 2N).
    # TODO: take each anchor's positive, and its hardest negatives.
    # TODO: take the mean loss of all anchors.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    raise NotImplementedError
