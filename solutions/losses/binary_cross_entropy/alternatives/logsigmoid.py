"""Torch's logsigmoid for the logits; xlogy for the probabilities, with an assert for each argument."""

import torch
import torch.nn.functional as F


def _finish(values, reduction):
    assert reduction in ("mean", "sum", "none")
    return values if reduction == "none" else getattr(values, reduction)()


def _log(p):
    log_p = torch.log(torch.clamp(p, min=torch.finfo(p.dtype).tiny))
    return torch.where(p < torch.finfo(p.dtype).tiny, p.detach().log(), log_p).clamp(min=-100)


def binary_cross_entropy(probs, target, reduction="mean"):
    assert probs.size() == target.size()
    assert torch.all(probs >= 0) and torch.all(probs <= 1)
    target = target.type_as(probs)
    return _finish(-target * _log(probs) - (1 - target) * _log(1 - probs), reduction)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    assert logits.size() == target.size()
    target = target.type_as(logits)
    positive = target * F.logsigmoid(logits)
    if pos_weight is not None:
        positive = positive * pos_weight
    return _finish(-positive - (1 - target) * F.logsigmoid(-logits), reduction)
