import torch

def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    C = logits.shape[1]
    logp = logits - torch.logsumexp(logits, 1, keepdim=True)
    mask = target != ignore_index
    y = torch.where(mask, target, 0)
    w = torch.ones(C, dtype=logits.dtype) if weight is None else weight
    nll = -w[y] * logp.gather(1, y[:, None]).squeeze(1)
    smooth = -(w * logp).sum(1)
    loss = (1 - label_smoothing) * nll + label_smoothing / C * smooth
    loss = loss * mask
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    return loss.sum() / (w[y] * mask).sum()
