"""The factor that LambdaLR would take, times base_lr; an object that is called with the step."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Factor:
    warmup: int
    total: int
    floor: float

    def __call__(self, current):
        if current < self.warmup:
            return float(current + 1) / float(self.warmup)
        progress = float(min(current, self.total) - self.warmup) / float(self.total - self.warmup)
        return self.floor + (1.0 - self.floor) * 0.5 * (1.0 + math.cos(math.pi * progress))


def warmup_cosine(step, warmup_steps, total_steps, base_lr, min_lr=0.0):
    return base_lr * Factor(warmup_steps, total_steps, min_lr / base_lr)(step)
