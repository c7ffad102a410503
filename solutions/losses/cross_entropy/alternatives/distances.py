"""Takes the log-sum-exp of the distances to the target's logit, which is the loss itself."""

import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    try:
        N, C = logits.shape
        (M,) = target.shape
    except ValueError:
        raise ValueError("expected logits (N, C) and target (N,)")
    if N != M:
        raise ValueError(f"{N} logits, {M} targets")
    if not 0 <= label_smoothing <= 1:
        raise ValueError("smoothing out of range")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError("bad reduction")
    if weight is not None and tuple(weight.size()) != (C,):
        raise ValueError("weight")
    ignored = target == ignore_index
    if bool((~ignored & ((target < 0) | (target > C - 1))).any()):
        raise ValueError("class index out of range")

    # distances to the target's logit: log Σ exp(z_c − z_y) is the loss itself
    safe = torch.where(ignored, torch.zeros_like(target), target)
    own = torch.take_along_dim(logits, safe[:, None], dim=1)
    nll = torch.logsumexp(logits - own, dim=1)
    w = torch.ones(C, dtype=logits.dtype, device=logits.device) if weight is None else weight.to(logits)
    per_row = w.index_select(0, safe)
    loss = per_row * nll
    if label_smoothing != 0:
        lse = nll + own.squeeze(1)
        uniform = lse * w.sum() - torch.mv(logits, w)
        loss = torch.lerp(loss, uniform / C, label_smoothing)
    loss = torch.where(ignored, torch.zeros_like(loss), loss)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    return loss.sum() / torch.where(ignored, torch.zeros_like(per_row), per_row).sum()
