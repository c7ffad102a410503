"""Torch's cross-entropy for both logs: that of the opposite target is −log(1 − p_t)."""

from torch.nn.functional import binary_cross_entropy_with_logits as bce


def sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean"):
    if tuple(logits.shape) != tuple(target.shape) or reduction not in ("mean", "sum", "none"):
        raise ValueError("other shapes, or an unknown reduction")
    y = target.to(logits.dtype)
    loss = bce(logits, y, reduction="none") * (-gamma * bce(logits, 1 - y, reduction="none")).exp()
    if alpha >= 0:
        loss = loss * (y * alpha + (1 - y) * (1 - alpha))
    return {"mean": loss.mean(), "sum": loss.sum(), "none": loss}[reduction]
