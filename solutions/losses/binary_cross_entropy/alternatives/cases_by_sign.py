"""Splits the logits by sign with where, so that exp only ever sees what is not positive; helpers take defaults."""

import math

import torch


def finished(loss, given, target, reduction):
    if given.shape != target.shape or reduction not in ["mean", "sum", "none"]:
        raise ValueError(f"shapes {given.shape} and {target.shape}, reduction {reduction}")
    if reduction == "mean":
        return torch.mean(loss())
    return torch.sum(loss()) if reduction == "sum" else loss()


def binary_cross_entropy(probs, target, reduction="mean", floor=-100.0):
    if probs.numel() and not (probs.min() >= 0 and probs.max() <= 1):
        raise ValueError("probabilities lie between 0 and 1")
    y = target.to(dtype=probs.dtype)

    def safe_log(p):
        big_enough = p > math.exp(floor)
        return torch.where(big_enough, torch.log(torch.where(big_enough, p, torch.ones_like(p))), floor)

    return finished(lambda: -(y * safe_log(probs) + (1.0 - y) * safe_log(1.0 - probs)), probs, target, reduction)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    y = target.to(dtype=logits.dtype)
    positive = logits >= 0
    small = torch.where(positive, -logits, logits)  # −|x|, whose slope at 0 is −1 and not 0
    tail = torch.log(1 + torch.exp(small))
    minus_log_p = torch.where(positive, tail, tail - logits)
    minus_log_q = torch.where(positive, tail + logits, tail)
    weight = torch.ones_like(logits) if pos_weight is None else pos_weight
    return finished(lambda: weight * y * minus_log_p + (1 - y) * minus_log_q, logits, target, reduction)
