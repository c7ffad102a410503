"""As most loops have it, tokens counted first."""

import torch
import torch.nn.functional as F


def train_step(model, optimizer, batches, max_norm=None, scheduler=None):
    n_tokens = sum((targets != -100).sum().item() for _, targets in batches)
    optimizer.zero_grad()
    running_loss = 0.0
    for inputs, targets in batches:
        logits = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), reduction="sum") / n_tokens
        loss.backward()
        running_loss += loss.item()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return running_loss
