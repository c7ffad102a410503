"""Debiased InfoNCE. Statement: katas/contrastive/debiased_contrastive/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def debiased_info_nce(features: Tensor, temperature: float = 0.5, tau_plus: float = 0.1) -> Tensor:
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / (exp(s(i, i⁺)/τ) + M g(i)))

    g(i) = max((1/M Σ_{j∉{i, i⁺}} exp(s(i, j)/τ) − τ⁺ exp(s(i, i⁺)/τ)) / (1 − τ⁺), exp(−1/τ))

    s(i, j) is the cosine similarity of rows i and j; i⁺ = (i + N) mod 2N is the other view of sample i. The sum runs
    over the M = 2N − 2 rows of the other samples.

    Args:
        features: (2N, D); rows i and i + N are two views of one sample.
        temperature: τ, above 0.
        tau_plus: τ⁺, the share of these M rows that is expected to be of the anchor's class, from 0 to below 1.
    Returns: a scalar, in the dtype of features.
    Raises: ValueError if features is not 2-D, if its number of rows is odd, if temperature is not above 0, or if
        tau_plus is below 0 or not below 1.
    Source: arXiv:2007.00224, with one positive in the correction, and all negatives of the batch.
    """
    # --- solution
    # TODO: take the cosine similarities of all pairs of rows, divided by the temperature: (2N, 2N).
    # TODO: take the exponentials of each anchor's positive and of its negatives, at any temperature.
    # TODO: estimate what the true negatives add to the denominator.
    # TODO: take the mean loss of all anchors.
    # TODO: then make it robust: refuse bad arguments; small temperatures; rows of very different lengths.
    if features.dim() != 2 or len(features) % 2:
        raise ValueError(f"features should be (2N, D), got {tuple(features.shape)}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    if not 0 <= tau_plus < 1:
        raise ValueError(f"tau_plus should be at least 0 and below 1, got {tau_plus}")
    N, M = len(features) // 2, len(features) - 2
    unit = F.normalize(features, dim=1)
    logits = unit @ unit.mT / temperature  # (2N, 2N)
    positive = logits.diagonal(N).repeat(2)  # (2N,), the same for both views of a sample
    same_sample = torch.eye(N, dtype=torch.bool, device=features.device).repeat(2, 2)  # itself and the positive
    negatives = logits.masked_fill(same_sample, -torch.inf)
    top = torch.maximum(positive, negatives.amax(1)).detach()  # every exponential is divided by exp(top)
    exp_positive = (positive - top).exp()
    exp_negatives = (negatives - top[:, None]).exp().sum(1)
    floor = M * (-1 / temperature - top).exp()
    Mg = torch.maximum((exp_negatives - M * tau_plus * exp_positive) / (1 - tau_plus), floor)
    return ((exp_positive + Mg).log() - (positive - top)).mean()
    # --- end
