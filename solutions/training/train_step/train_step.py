"""One training step by hand. Statement: katas/training/train_step/README.md."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    max_norm: float | None = None,
    scheduler: Any = None,
) -> float:
    """One step on L = −1/T Σ_b Σ_t log softmax(z_bt)[y_bt], with g ← g · min(1, max_norm / ‖g‖₂) for its gradients g

    Args:
        model: inputs (B, S) -> logits z (B, S, V). The optimiser has all of its parameters.
        batches: micro-batches b of inputs (B, S) and targets y (B, S); tokens t whose target is −100 do not count, and
            T is the number of all that do.
        max_norm: the limit for the norm of all gradients together, above 0; None: they are not clipped.
        scheduler: its step() is called once, after the optimiser's; None: there is none.
    Returns: L as a float, from before the step.
    Raises: ValueError if no token counts, or if max_norm is not above 0.
    """
    # --- solution
    # TODO: count the tokens of all micro-batches.
    # TODO: clear old gradients, then add up the gradients of each micro-batch's part of the mean loss over all tokens.
    # TODO: clip the gradients by the norm of all of them together.
    # TODO: let the optimiser step, then the scheduler.
    # TODO: return the mean loss over all tokens.
    # TODO: then make it robust: refuse bad arguments with a ValueError; batches may be a generator.
    if max_norm is not None and max_norm <= 0:
        raise ValueError(f"max_norm should be above 0, got {max_norm}")
    batches = list(batches)
    tokens = sum(int((targets != -100).sum()) for _, targets in batches)
    if tokens == 0:
        raise ValueError(f"at least one target should count, got none in {len(batches)} micro-batches")
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in batches:
        logits = model(inputs)  # (B, S, V)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        (loss / tokens).backward()
        total += loss.item()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return total / tokens
    # --- end
