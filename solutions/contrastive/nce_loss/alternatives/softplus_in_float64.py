"""Softplus of the negated logits, in float64 whatever comes in."""

import math

from torch.nn.functional import softplus


def nce_loss(pos_scores, neg_scores, log_noise_pos, log_noise_neg):
    if not (pos_scores.dim() == 1 and neg_scores.dim() == 2 and len(pos_scores) == len(neg_scores)):
        raise ValueError("pos_scores should be (N,), and neg_scores (N, K)")
    if (log_noise_pos.size(), log_noise_neg.size()) != (pos_scores.size(), neg_scores.size()):
        raise ValueError("log_noise_pos and log_noise_neg should have the shapes of the scores")
    K = neg_scores.size(1)
    pos = softplus(math.log(K) + log_noise_pos.double() - pos_scores.double())
    neg = softplus(neg_scores.double() - log_noise_neg.double() - math.log(K))
    return (pos.mean() + K * neg.mean()).to(pos_scores.dtype)
