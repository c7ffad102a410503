"""By (1 + cos 2x) / 2 = cos² x, counted from the end: a mean of both rates that loses no digits near 0."""

import math


def warmup_cosine(step: int, warmup_steps: int, total_steps: int, base_lr: float, min_lr: float = 0.0) -> float:
    assert 0 <= warmup_steps < total_steps
    if step < warmup_steps:
        return (step + 1) * (base_lr / warmup_steps)
    left = max(total_steps - step, 0) / (total_steps - warmup_steps)
    share = math.sin(math.pi / 2 * left) ** 2
    return share * base_lr + (1 - share) * min_lr
