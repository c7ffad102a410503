# broken: compares ignore_index in 32 bits; must fail
import torch
from torch import Tensor


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2:
        raise ValueError(f"logits should be 2-D, got {tuple(logits.shape)}")
    if target.dim() != 1:
        raise ValueError(f"target should be 1-D, got {tuple(target.shape)}")
    N, C = logits.shape
    if target.shape[0] != N:
        raise ValueError(f"{N} rows but {target.shape[0]} targets")
    if weight is not None and weight.shape != (C,):
        raise ValueError("weight should have one entry for each class")
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError("label_smoothing should be in [0, 1]")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"unknown reduction {reduction}")
    counts = target.to(torch.int32) != (ignore_index + 2**31) % 2**32 - 2**31
    if bool((((target < 0) | (target >= C)) & counts).any()):
        raise ValueError("no such class")

    log_p = logits - torch.logsumexp(logits, dim=1, keepdim=True)
    safe = target.masked_fill(~counts, 0)
    w = torch.ones(C, dtype=logits.dtype, device=logits.device) if weight is None else weight
    row_weight = w[safe] * counts
    picked = log_p.gather(1, safe.unsqueeze(1)).squeeze(1)
    nll = (-picked * w[safe]).masked_fill(~counts, 0.0)
    loss = nll
    if label_smoothing > 0:
        smooth = -(log_p * w).sum(dim=1).masked_fill(~counts, 0.0)
        loss = (1 - label_smoothing) * nll + label_smoothing / C * smooth
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    return loss.sum() / row_weight.sum()
