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
        # --- solution
        # TODO: fill parameters and buffers, in place.
        # TODO: fix an order in which all ranks send gradients: which are complete first in backward?
        # TODO: have each parameter call self.complete once its gradient is complete.
        super().__init__()
        self.comm, self.module = comm, module
        with torch.no_grad():
            for tensor in (*module.parameters(), *module.buffers()):
                tensor.copy_(comm.broadcast(tensor, 0))
        self.order = [p for p in reversed([*module.parameters()]) if p.requires_grad]
        self.ready: set[Tensor] = set()
        self.handles: list[Any] = []
        for parameter in self.order:
            parameter.register_post_accumulate_grad_hook(self.complete)
        # --- end

    def forward(self, *args: Any) -> Any:
        """What the module returns."""
        # --- solution
        # TODO: call the module.
        return self.module(*args)
        # --- end

    def complete(self, parameter: Tensor) -> None:
        """Called within backward: the gradient of this parameter is complete."""
        # --- solution
        # TODO: begin to send this gradient and others, but in the order that all ranks have.
        self.ready.add(parameter)
        while len(self.handles) < len(self.order) and self.order[len(self.handles)] in self.ready:
            self.send_next()
        # --- end

    def send_next(self) -> None:
        """Begins the all_reduce of the next gradient in the order."""
        # --- solution
        # TODO: what does a rank send that did not use the parameter?
        parameter = self.order[len(self.handles)]
        grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        self.handles.append(self.comm.all_reduce(grad, async_op=True))
        # --- end

    def finish(self) -> None:
        """After backward: makes each .grad the mean over ranks."""
        # --- solution
        # TODO: send what is left, wait, divide, and get ready for the next backward.
        while len(self.handles) < len(self.order):
            self.send_next()
        for parameter, handle in zip(self.order, self.handles, strict=True):
            parameter.grad = handle.wait() / self.comm.world_size
        self.ready, self.handles = set(), []
        # --- end
