"""A custom autograd function: the slope of −log σ(δ) is σ(δ) − 1, that of −log σ(−δ) is σ(δ)."""

import math

import torch


class NCE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pos, neg):
        ctx.save_for_backward(pos, neg)
        zero = pos.new_zeros(())
        return (torch.logaddexp(zero, -pos) + torch.logaddexp(zero, neg).sum(1)).mean()

    @staticmethod
    def backward(ctx, grad):
        pos, neg = ctx.saved_tensors
        return -grad * torch.sigmoid(-pos) / len(pos), grad * torch.sigmoid(neg) / len(pos)


def nce_loss(pos_scores, neg_scores, log_noise_pos, log_noise_neg):
    if pos_scores.ndim != 1 or neg_scores.ndim != 2 or neg_scores.shape[0] != pos_scores.shape[0]:
        raise ValueError("the scores should be (N,) and (N, K)")
    if log_noise_pos.shape != pos_scores.shape or log_noise_neg.shape != neg_scores.shape:
        raise ValueError("the noise should have the shapes of the scores")
    shift = math.log(neg_scores.shape[1])
    return NCE.apply(pos_scores - log_noise_pos - shift, neg_scores - log_noise_neg - shift)
