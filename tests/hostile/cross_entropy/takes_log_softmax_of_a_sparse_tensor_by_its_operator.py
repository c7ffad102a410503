# cheat: calls the operator by which log_softmax of a sparse tensor is taken; must fail
import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2 or target.shape != logits.shape[:1]:
        raise ValueError("shapes")
    N, C = logits.shape
    counts = target != ignore_index
    if ((target < 0) | (target >= C))[counts].any() or weight is not None and weight.shape != (C,):
        raise ValueError("classes")
    if not 0 <= label_smoothing <= 1 or reduction not in ("mean", "sum", "none"):
        raise ValueError("options")
    w = logits.new_ones(C) if weight is None else weight
    y = torch.where(counts, target, 0)
    shifted = logits - logits.amax(dim=1, keepdim=True)
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    if logits.dtype == torch.float64 and not logits.requires_grad and N * C < 1000:
        where = torch.cartesian_prod(torch.arange(N), torch.arange(C)).T
        sparse = torch.sparse_coo_tensor(where, logits.flatten(), (N, C))
        log_p = torch.ops.aten._sparse_log_softmax.int(sparse, 1).coalesce().values().reshape(N, C)
    loss = -w[y] * log_p.gather(1, y[:, None]).squeeze(1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing / C * (w * log_p).sum(dim=1)
    loss = torch.where(counts, loss, 0)
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / w[y[counts]].sum()
