"""Shifts by max(−x, 0), whose own slope cancels, so that a clamp does no harm at a logit of 0; masks before each log."""

import torch

REDUCTIONS = {"mean": torch.mean, "sum": torch.sum, "none": lambda t: t}


def binary_cross_entropy(probs, target, reduction="mean"):
    if probs.shape != target.shape:
        raise ValueError("shape mismatch")
    if reduction not in REDUCTIONS:
        raise ValueError("bad reduction")
    if torch.isnan(probs).any() or probs.lt(0).any() or probs.gt(1).any():
        raise ValueError("probabilities")
    target = target.type_as(probs)

    def safe(v):
        return v.masked_fill(v == 0, 1.0).log().masked_fill(v == 0, -100.0).clamp(min=-100.0)

    loss = target.mul(safe(probs)).add((1 - target).mul(safe(1 - probs))).neg()
    return REDUCTIONS[reduction](loss)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    if not (target.size() == logits.size()):
        raise ValueError("Target size ({}) must be the same as input size ({})".format(target.size(), logits.size()))
    if reduction not in REDUCTIONS:
        raise ValueError("bad reduction")
    target = target.type_as(logits)
    max_val = (-logits).clamp(min=0)
    log_sum = ((-max_val).exp() + (-logits - max_val).exp()).log() + max_val
    if pos_weight is not None:
        log_weight = (pos_weight - 1) * target + 1
        loss = (1 - target) * logits + log_weight * log_sum
    else:
        loss = logits - logits * target + log_sum
    return REDUCTIONS[reduction](loss)
