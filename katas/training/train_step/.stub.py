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
    # TODO: count the tokens of all micro-batches.
    # TODO: clear old gradients, then add up the gradients of each micro-batch's part of the mean loss over all tokens.
    # TODO: clip the gradients by the norm of all of them together.
    # TODO: let the optimiser step, then the scheduler.
    # TODO: return the mean loss over all tokens.
    # TODO: then make it robust: refuse bad arguments with a ValueError; batches may be a generator.
    raise NotImplementedError
