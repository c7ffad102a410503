"""The learning rate, the optimiser, a step, the loop, evaluation and checkpoints."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def learning_rate(step: int, steps: int, warmup: int = 10, highest: float = 1.2e-2, lowest: float = 3e-4) -> float:
    """Of step 0, 1, …: a line up to the highest one in the warm-up, then half a cosine down to the lowest."""
    if step < warmup:
        return highest * (step + 1) / warmup
    progress = (step - warmup) / (steps - warmup)
    return lowest + 0.5 * (highest - lowest) * (1 + math.cos(math.pi * progress))


def make_optimizer(model: nn.Module, decay: float = 0.01) -> torch.optim.Optimizer:
    """AdamW; vectors, such as biases and norms, do not decay."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.95))


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    max_norm: float | None = None,
    scheduler: Any = None,
) -> float:
    """One step on the mean loss over all targets of the micro-batches that count, which are not −100; returns it."""
    batches = list(batches)
    tokens = sum(int((targets != -100).sum()) for _, targets in batches)
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in batches:
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        (loss / tokens).backward()
        total += loss.item()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return total / tokens


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    next_batch: Callable[[], tuple[Tensor, Tensor]],
    steps: int,
    first: int = 0,
    last: int | None = None,
    log: Callable[[int, float, float], None] = lambda step, loss, rate: None,
) -> None:
    """Trains from step `first` to before step `last`, of `steps` in all; logs each from 1 on."""
    model.train()
    for step in range(first, steps if last is None else last):
        rate = learning_rate(step, steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = train_step(model, optimizer, [next_batch(), next_batch()], max_norm=1.0)
        log(step + 1, loss, optimizer.param_groups[0]["lr"])


@torch.no_grad()
def evaluate(model: nn.Module, lines: list[list[int]], length: int) -> float:
    """The mean loss over all next tokens of the lines, in windows."""
    model.eval()
    total, count = 0.0, 0
    for line in lines:
        for start in range(0, len(line) - 1, length - 1):
            window = torch.tensor([line[start : start + length]])
            targets = window.shape[1] - 1
            total += model.loss(window).item() * targets
            count += targets
    model.train()
    return total / count


def save(path: str, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, step: int) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    state |= {"data": generator.get_state(), "dropout": torch.get_rng_state()}
    torch.save(state, path)


def load(path: str, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator) -> int:
    """Puts everything back as it was saved; returns the next step."""
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    generator.set_state(state["data"])
    torch.set_rng_state(state["dropout"])
    return state["step"]
