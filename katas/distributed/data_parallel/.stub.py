"""Data-parallel training. Statement: katas/distributed/data_parallel/README.md."""

from typing import Any

import torch
from torch import Tensor, nn


class DataParallel(nn.Module):
    """Keeps W copies of a module alike: the same start, and after each backward the same mean gradients.

    Args:
        comm: has rank, world_size, broadcast(tensor, src) and all_reduce(tensor, async_op).
        module: its parameters and buffers are filled in place with rank 0's.
    Source: PyTorch Distributed (arXiv:2006.15704), section 3, without its buckets.
    """

    def __init__(self, comm: Any, module: nn.Module) -> None:
        # TODO: fill parameters and buffers, in place.
        # TODO: fix an order in which all ranks send gradients: which are complete first in backward?
        # TODO: have each parameter call self.complete once its gradient is complete.
        raise NotImplementedError

    def forward(self, *args: Any) -> Any:
        """What the module returns."""
        # TODO: call the module.
        raise NotImplementedError

    def complete(self, parameter: Tensor) -> None:
        """Called within backward: the gradient of this parameter is complete."""
        # TODO: begin to send this gradient and others, but in the order that all ranks have.
        raise NotImplementedError

    def send_next(self) -> None:
        """Begins the all_reduce of the next gradient in the order."""
        # TODO: what does a rank send that did not use the parameter?
        raise NotImplementedError

    def finish(self) -> None:
        """After backward: makes each .grad the mean over ranks."""
        # TODO: send what is left, wait, divide, and get ready for the next backward.
        raise NotImplementedError
