"""The gradient of InfoNCE, by hand. Statement: katas/contrastive/info_nce_gradient/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def info_nce_grad(features: Tensor, temperature: float = 0.1) -> tuple[Tensor, Tensor]:
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / Σ_{k≠i} exp(s(i, k)/τ)) and ∂L/∂features

    s(i, k) is the cosine similarity of rows i and k; i⁺ = (i + N) mod 2N is the other view of sample i.

    Args:
        features: (2N, D); rows i and i + N are two views of one sample.
        temperature: τ, above 0.
    Returns: L, a scalar, and its gradient, (2N, D), both in the dtype of features.
    Raises: ValueError if features is not 2-D, if its number of rows is odd, or if temperature is not above 0.
    Source: arXiv:2002.05709, eq. 1, with the views as neighbours; table 2 has the gradient for one anchor of length 1.
    """
    # TODO: compute the loss, and keep what the way back needs.
    # TODO: find the gradient with respect to the cosines, (2N, 2N).
    # TODO: take it back through the matrix of cosines to the rows of length 1, and from there to features.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    raise NotImplementedError
