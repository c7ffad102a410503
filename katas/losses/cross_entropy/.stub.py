"""Cross-entropy by hand. Statement: katas/losses/cross_entropy/README.md."""

import torch
from torch import Tensor


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
    # TODO: find the log-probability of each class in each row.
    # TODO: pick the entry of each row's target without a loop, and weight it. What do you pick in an ignored row?
    # TODO: give ignored rows the loss 0.
    # TODO: mix in the label smoothing, in which each class has its own weight.
    # TODO: reduce. What does the mean divide by?
    # TODO: then make it robust: refuse bad arguments with a ValueError; logits may be far from 0, or −∞.
    raise NotImplementedError
