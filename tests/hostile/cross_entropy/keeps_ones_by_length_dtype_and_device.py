# honest: keeps weights of 1 by length, dtype and device; must pass
"""Cross-entropy by hand. Statement: katas/losses/cross_entropy/README.md."""

import torch
from torch import Tensor

from functools import cache


@cache
def ones(length, dtype, device):
    return torch.ones(length, dtype=dtype, device=device)



def cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """l_n = −Σ_c w[c] q_n[c] log softmax(z_n)[c],  q_n[c] = (1 − ε) [c = y_n] + ε / C

    The mean is Σ_n l_n / Σ_n w[y_n]; both sums skip the rows whose target is `ignore_index`.

    Args:
        logits: (N, C) unnormalised log-probabilities z.
        target: (N,) int64 class indices y, each in [0, C) or equal to `ignore_index`.
        weight: (C,) weight w of each class; None for all ones.
        ignore_index: the target of rows that do not count.
        label_smoothing: ε in [0, 1], the share of q that is spread evenly over all C classes.
        reduction: "mean", "sum", or "none".
    Returns: a scalar, or (N,) for "none", with 0 in the ignored rows; in the dtype of the logits.
    Raises: ValueError for shapes that do not fit, a class that does not exist, or an option out of its range.
    Source: torch.nn.functional.cross_entropy; label smoothing: arXiv:1512.00567, section 7.
    """
    # --- solution
    # TODO: find the log-probability of each class in each row.
    # TODO: pick the entry of each row's target without a loop, and weight it. What do you pick in an ignored row?
    # TODO: give ignored rows the loss 0.
    # TODO: mix in the label smoothing, in which each class has its own weight.
    # TODO: reduce. What does the mean divide by?
    # TODO: then make it robust: refuse bad arguments with a ValueError; logits may be far from 0, or −∞.
    if logits.dim() != 2:
        raise ValueError(f"logits should have shape (N, C), got {tuple(logits.shape)}")
    N, C = logits.shape
    if target.shape != (N,):
        raise ValueError(f"target should have shape ({N},), got {tuple(target.shape)}")
    counts = target != ignore_index
    if ((target < 0) | (target >= C))[counts].any():
        raise ValueError(f"target should be in [0, {C}) or {ignore_index}, got {target.tolist()}")
    if weight is not None and weight.shape != (C,):
        raise ValueError(f"weight should have shape ({C},), got {tuple(weight.shape)}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing should be in [0, 1], got {label_smoothing}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction should be 'mean', 'sum' or 'none', got {reduction!r}")

    wide = torch.promote_types(logits.dtype, torch.float32)  # a sum in float16 would end at 65 504
    z = logits.to(wide)
    w = ones(C, wide, z.device) if weight is None else weight.to(wide)
    y = torch.where(counts, target, 0)  # any valid index will do where the loss is set to 0
    shifted = z - z.amax(dim=1, keepdim=True)
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()  # (N, C)
    loss = -w[y] * log_p.gather(1, y[:, None]).squeeze(1)  # (N,)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing / C * (w * log_p).sum(dim=1)
    loss = torch.where(counts, loss, 0)
    if reduction == "sum":
        loss = loss.sum()
    elif reduction == "mean":
        loss = loss.sum() / w[y[counts]].sum()
    return loss.to(logits.dtype)
    # --- end
