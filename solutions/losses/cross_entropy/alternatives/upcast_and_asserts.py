"""Half precision is computed in float32; arguments are checked by bare asserts; an extra optional parameter."""

import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean", dim=1):
    assert logits.dim() == 2 and target.dim() == 1
    assert logits.size(0) == target.size(0), "lengths differ"
    assert reduction in ("mean", "sum", "none")
    assert 0 <= label_smoothing <= 1
    assert weight is None or list(weight.size()) == [logits.size(1)]
    valid = target != ignore_index
    assert ((0 <= target) & (target < logits.size(1)) | ~valid).all(), "no such class"

    dtype = logits.dtype
    if dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
        weight = weight.float() if weight is not None else None
    nlp = torch.logsumexp(logits, dim, keepdim=True) - logits
    picked = torch.take_along_dim(nlp, torch.where(valid, target, torch.zeros_like(target)).unsqueeze(dim), dim)[:, 0]
    if weight is None:
        row_weight = valid.to(logits.dtype)
        smooth = nlp.mean(dim)
    else:
        row_weight = torch.zeros_like(picked)
        row_weight[valid] = weight[target[valid]]
        smooth = (nlp * weight).mean(dim)
    loss = picked * row_weight
    if label_smoothing > 0:
        loss = torch.lerp(loss, torch.where(valid, smooth, torch.zeros_like(smooth)), label_smoothing)
    if reduction == "mean":
        loss = torch.sum(loss) / torch.sum(row_weight)
    elif reduction == "sum":
        loss = torch.sum(loss)
    return loss.to(dtype)
