"""With tensors, in float64, and torch.where for the phases."""

import torch


def warmup_cosine(step, warmup_steps, total_steps, base_lr, min_lr=0.0):
    t = torch.tensor(step, dtype=torch.float64)
    rising = base_lr * (t + 1) / max(warmup_steps, 1)
    angle = torch.pi * (t - warmup_steps) / (total_steps - warmup_steps)
    falling = min_lr + (base_lr - min_lr) / 2 * (1 + torch.cos(angle))
    falling = torch.where(t < total_steps, falling, torch.full_like(t, min_lr))
    return torch.where(t < warmup_steps, rising, falling).item()
