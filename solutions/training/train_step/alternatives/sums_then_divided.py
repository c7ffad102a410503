"""One pass: gradients of the sums, divided once the number of tokens is known."""

import torch
import torch.nn.functional as F


def train_step(model, optimizer, batches, max_norm=None, scheduler=None):
    if max_norm is not None and max_norm <= 0:
        raise ValueError("max_norm should be above 0")
    model.zero_grad()
    tokens, total = 0, 0.0
    for x, y in batches:
        loss = F.cross_entropy(model(x).transpose(1, 2), y, reduction="sum")
        loss.backward()
        tokens += (y != -100).sum().item()
        total += loss.item()
    if tokens == 0:
        raise ValueError("there is nothing to learn from")
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    for g in gradients:
        g /= tokens
    if max_norm is not None:
        norm = torch.stack([g.norm() for g in gradients]).norm()
        if norm > max_norm:
            for g in gradients:
                g *= max_norm / norm
    optimizer.step()
    if scheduler:
        scheduler.step()
    return total / tokens
