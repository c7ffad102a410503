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
    # TODO: compute the losses of a few rows from their similarities with all rows.
    # TODO: take chunk after chunk, and keep no table of a chunk for the backward pass.
    # TODO: take the mean loss of all rows.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    raise NotImplementedError
