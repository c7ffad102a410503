"""autograd.grad for each micro-batch, added up in tensors of its own."""

import torch


def train_step(model, optimizer, batches, max_norm=None, scheduler=None):
    batches = [*batches]
    assert max_norm is None or max_norm > 0, "max_norm should be above 0"
    count = sum(int((y >= 0).sum()) for _, y in batches)
    assert count, "a target should count"
    params = [p for p in model.parameters() if p.requires_grad]
    summed, total = [None] * len(params), 0.0
    for x, y in batches:
        nll = -model(x).log_softmax(-1).gather(-1, y.clamp(min=0)[..., None]).squeeze(-1)
        loss = torch.where(y == -100, 0, nll).sum() / count
        made = torch.autograd.grad(loss, params, allow_unused=True)
        summed = [g if old is None else old + g for old, g in zip(summed, made, strict=True)]
        total += loss.item()
    optimizer.zero_grad()
    for p, g in zip(params, summed, strict=True):
        p.grad = g
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(params, max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return total
