"""InfoNCE without softmax, logsumexp or cross-entropy. Statement: katas/contrastive/info_nce_by_hand/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def info_nce(features: Tensor, temperature: float = 0.07) -> Tensor:
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / Σ_{k≠i} exp(s(i, k)/τ))

    s(i, k) is the cosine similarity of rows i and k; i⁺ is the other row of row i's pair.

    Args:
        features: (2N, D); rows 2i and 2i + 1 are two views of one sample, for i from 0 to N − 1.
        temperature: τ, above 0.
    Returns: a scalar, in the dtype of features.
    Raises: ValueError if features is not 2-D, if its number of rows is odd, or if temperature is not above 0.
    Source: arXiv:2002.05709, eq. 1, where the rows are counted from 1: 2k − 1 and 2k are a pair.
    """
    # TODO: take the cosine similarities of all pairs of rows, divided by the temperature: (2N, 2N).
    # TODO: leave each row itself out of its own denominator, in every dtype.
    # TODO: take the logarithm of the sum of exponentials.
    # TODO: find the column of each row's positive, and take the mean loss of all rows.
    # TODO: then make it robust: check the arguments, and raise ValueError; exponentials overflow at small temperatures.
    raise NotImplementedError
