"""No branches: a factor that stops at 1 times a cosine whose progress is kept between 0 and 1."""

from math import cos, pi


def warmup_cosine(step, warmup_steps, total_steps, base_lr, min_lr=0.0):
    warm = min(1.0, (step + 1) / max(1, warmup_steps))
    progress = min(1.0, max(0.0, (step - warmup_steps) / (total_steps - warmup_steps)))
    return warm * (min_lr + 0.5 * (base_lr - min_lr) * (1 + cos(pi * progress)))
