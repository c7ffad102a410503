"""Noise-contrastive estimation by hand. Statement: katas/contrastive/nce_loss/README.md."""

import math

import torch.nn.functional as F
from torch import Tensor


def nce_loss(pos_scores: Tensor, neg_scores: Tensor, log_noise_pos: Tensor, log_noise_neg: Tensor) -> Tensor:
    """L = −1/N Σ_n [log σ(δ⁺_n) + Σ_k log σ(−δ⁻_nk)],  δ = s − log pₙ − log K

    Args:
        pos_scores: (N,), the score s of each sample of the data.
        neg_scores: (N, K), the scores of the K noise samples of each row.
        log_noise_pos: (N,), log pₙ of the samples of the data under the noise distribution.
        log_noise_neg: (N, K), log pₙ of the noise samples.
    Returns: a scalar, in the dtype of the scores.
    Raises: ValueError if pos_scores is not 1-D, if neg_scores is not 2-D with N rows, or if log_noise_pos or
        log_noise_neg does not have the shape of its scores.
    Source: Gutmann and Hyvärinen, JMLR 13 (2012), section 2; their ν is our K, and they maximise −L.
    """
    # --- solution
    # TODO: find δ of each sample: the logit that it came from the data rather than from the noise.
    # TODO: find the log-probability of the right answer for each sample.
    # TODO: reduce to a scalar. Which axis is added up, and which is averaged?
    # TODO: then make it robust: check the four shapes, and raise ValueError; probabilities may be tiny.
    if pos_scores.dim() != 1:
        raise ValueError(f"pos_scores should be (N,), got {tuple(pos_scores.shape)}")
    N = len(pos_scores)
    if neg_scores.dim() != 2 or len(neg_scores) != N:
        raise ValueError(f"neg_scores should be ({N}, K), got {tuple(neg_scores.shape)}")
    if log_noise_pos.shape != pos_scores.shape:
        raise ValueError(f"log_noise_pos should be ({N},), got {tuple(log_noise_pos.shape)}")
    if log_noise_neg.shape != neg_scores.shape:
        raise ValueError(
            f"log_noise_neg should have the shape {tuple(neg_scores.shape)} of neg_scores, "
            f"got {tuple(log_noise_neg.shape)}"
        )
    log_K = math.log(neg_scores.shape[1])
    pos_delta = pos_scores - log_noise_pos - log_K  # (N,)
    neg_delta = neg_scores - log_noise_neg - log_K  # (N, K)
    log_likelihood = F.logsigmoid(pos_delta) + F.logsigmoid(-neg_delta).sum(1)  # (N,)
    return -log_likelihood.mean()
    # --- end
