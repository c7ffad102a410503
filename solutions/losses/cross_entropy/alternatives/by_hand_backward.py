"""A custom autograd function: dl/dz = softmax(z) · Σ_c w_c q_c − w q, times 1 for rows that count."""

import torch


class CrossEntropyRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, y, counts, w, epsilon):
        z = z - z.max(1, keepdim=True)[0]
        log_p = z - torch.log(torch.exp(z).sum(1, keepdim=True))
        loss = -w[y] * log_p[torch.arange(len(y)), y]
        if epsilon:
            loss = (1 - epsilon) * loss - epsilon * torch.mv(log_p, w) / z.shape[1]
        loss[~counts] = 0
        ctx.save_for_backward(log_p, y, counts, w)
        ctx.epsilon = epsilon
        return loss

    @staticmethod
    def backward(ctx, grad):
        log_p, y, counts, w = ctx.saved_tensors
        n, c = log_p.shape
        wq = (ctx.epsilon / c * w).repeat(n, 1)
        wq[torch.arange(n), y] += (1 - ctx.epsilon) * w[y]
        grad_z = log_p.exp() * wq.sum(1, keepdim=True) - wq
        return grad_z * (grad * counts)[:, None], None, None, None, None


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2 or target.dim() != 1:
        raise ValueError("logits should be 2-D and target 1-D")
    n, c = logits.shape
    if target.shape[0] != n:
        raise ValueError(f"target should have {n} entries")
    counts = target.ne(ignore_index)
    if not torch.isin(target[counts], torch.arange(c, device=target.device)).all():
        raise ValueError(f"targets should lie in 0 ... {c - 1}")
    if label_smoothing > 1 or label_smoothing < 0:
        raise ValueError("label_smoothing should lie in 0 ... 1")
    w = torch.ones_like(logits[0]) if weight is None else weight
    if w.shape != (c,):
        raise ValueError(f"weight should have {c} entries")
    y = target * counts
    rows = CrossEntropyRows.apply(logits, y, counts, w, label_smoothing)
    reduce = {"none": lambda: rows, "sum": rows.sum, "mean": lambda: rows.sum() / (w[y] * counts).sum()}
    if reduction not in reduce:
        raise ValueError(f"reduction should be one of {list(reduce)}")
    return reduce[reduction]()
