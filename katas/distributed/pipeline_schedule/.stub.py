"""A pipeline of stages with one forward, one backward. Statement: katas/distributed/pipeline_schedule/README.md."""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn


class Comm(Protocol):
    """What each rank is given."""

    rank: int
    world_size: int

    def send(self, tensor: Tensor, dst: int) -> None: ...
    def recv(self, src: int) -> Tensor: ...


def schedule(stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    """What a stage does, in order: ("F", i) is the forward pass of microbatch i, ("B", i) its backward pass.

    Args:
        stage: from 0 to stages - 1.
        stages: p, at least 1.
        microbatches: m, at least 1; may be fewer than stages.
    Returns: 2m steps. At most min(p - stage, m) microbatches are forward and not yet backward.
    Raises: ValueError if stages or microbatches is less than 1, or stage is outside.
    Source: PipeDream-Flush, arXiv:2006.09503, as Megatron-LM (arXiv:2104.04473) uses it.
    """
    # TODO: refuse bad arguments.
    # TODO: how many forward passes come before the first backward pass?
    # TODO: then one forward, one backward, until all forward passes are done; then what is left.
    raise NotImplementedError


def run_stage(
    comm: Comm, module: nn.Module, inputs: list[Tensor | None], loss_fn: Callable[[Tensor, int], Tensor]
) -> float | None:
    """Runs this rank's stage over all microbatches, as `schedule` says; rank r is stage r.

    Args:
        comm: send(tensor, dst) never blocks; recv(src) waits.
        module: this stage; its parameters get .grad, of the mean loss over all microbatches.
        inputs: m tensors on rank 0, m times None elsewhere.
        loss_fn: loss_fn(output, i) is microbatch i's mean loss; the last rank calls it.
    Returns: on the last rank the mean of the m losses; elsewhere None.
    """
    # TODO: follow the schedule; keep what a backward pass needs, and let it go afterwards.
    # TODO: forward: where does the input come from, and where does the output go?
    # TODO: backward: where does the output's gradient come from, and which gradient goes on?
    # TODO: the loss is a mean over microbatches.
    raise NotImplementedError
