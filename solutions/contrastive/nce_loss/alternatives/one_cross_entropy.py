"""All N × (K + 1) samples in one table, and torch's own binary cross-entropy on it."""

import math

import torch
import torch.nn.functional as F


def nce_loss(pos_scores, neg_scores, log_noise_pos, log_noise_neg):
    assert pos_scores.dim() == 1 and neg_scores.dim() == 2 and len(pos_scores) == len(neg_scores)
    assert log_noise_pos.shape == pos_scores.shape and log_noise_neg.shape == neg_scores.shape
    scores = torch.cat([pos_scores.unsqueeze(1), neg_scores], dim=1)  # (N, K + 1)
    noise = torch.cat([log_noise_pos.unsqueeze(1), log_noise_neg], dim=1)
    logits = scores - noise - math.log(neg_scores.size(1))
    is_data = torch.zeros_like(logits)
    is_data[:, 0] = 1
    return F.binary_cross_entropy_with_logits(logits, is_data, reduction="sum") / len(logits)
