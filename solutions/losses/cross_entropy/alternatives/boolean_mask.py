"""A Boolean mask of the right answers selects the logits, as beginners like to do it."""

import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    # check everything
    if len(logits.shape) != 2:
        raise ValueError("logits has to be (N, C)")
    if len(target.shape) != 1:
        raise ValueError("target has to be (N,)")
    if logits.shape[0] != target.shape[0]:
        raise ValueError("different number of samples")
    num_classes = logits.shape[1]
    if weight is None:
        weight = torch.ones(num_classes).to(logits)
    if weight.shape[0] != num_classes:
        raise ValueError("weight has to be (C,)")
    if label_smoothing < 0 or label_smoothing > 1:
        raise ValueError("label_smoothing has to be in [0, 1]")
    if reduction != "mean" and reduction != "sum" and reduction != "none":
        raise ValueError("reduction has to be mean, sum or none")
    ignored = target == ignore_index
    if torch.any(~ignored & (target < 0)) or torch.any(~ignored & (target >= num_classes)):
        raise ValueError("target out of range")

    # stable log sum exp
    biggest = torch.max(logits, dim=1, keepdim=True)[0]
    log_sum_exp = torch.log(torch.sum(torch.exp(logits - biggest), dim=1, keepdim=True)) + biggest

    # the right class of each sample; column 0 stands in for ignored samples
    target = target.clone()
    target[ignored] = 0
    classes = torch.arange(num_classes, device=target.device)
    is_right = classes[None, :] == target[:, None]
    right_logits = logits[is_right]
    sample_weight = weight[None, :].expand(logits.shape)[is_right]

    losses = sample_weight * (log_sum_exp[:, 0] - right_logits)
    if label_smoothing > 0:
        all_losses = torch.sum(weight[None, :] * (log_sum_exp - logits), dim=1)
        losses = (1 - label_smoothing) * losses + (label_smoothing / num_classes) * all_losses
    losses = torch.where(ignored, torch.zeros_like(losses), losses)

    if reduction == "sum":
        return torch.sum(losses)
    if reduction == "mean":
        return torch.sum(losses) / torch.sum(sample_weight[~ignored])
    return losses
