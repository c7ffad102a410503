"""Linear warm-up and cosine decay by hand. Statement: katas/training/lr_schedule/README.md."""

import math


def warmup_cosine(step: int, warmup_steps: int, total_steps: int, base_lr: float, min_lr: float = 0.0) -> float:
    """η(t) = η_max · (t + 1) / W  for t < W,  η_min + (η_max − η_min) · (1 + cos(π (t − W) / (T − W))) / 2
    for W ≤ t < T,  and η_min for t ≥ T

    Args:
        step: t, the number of updates done before this one: 0 for the first.
        warmup_steps: W, 0 for none.
        total_steps: T, more than W.
        base_lr: η_max, the highest rate.
        min_lr: η_min, the rate from step T on.
    Returns: the learning rate of this step, a Python float.
    Source: arXiv:1706.02677, section 2.2 (warm-up), and arXiv:1608.03983, eq. 5, whose T_cur is our t − W and whose
        T_i is our T − W.
    """
    # TODO: in the warm-up, climb to base_lr by equal amounts; step 0 has the first of them.
    # TODO: after it, follow half a cosine from base_lr to min_lr.
    # TODO: stay at min_lr from total_steps on.
    raise NotImplementedError
