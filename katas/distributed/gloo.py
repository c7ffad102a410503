"""The communicator of these katas over torch.distributed and gloo: as you would write it at work.

`nox -s run -- ring_all_reduce --backend gloo --ranks 4` runs your answer with it, in four processes. Two things differ
from the simulation: a receiver must know size and dtype, so each message has a header; and what is sent must stay as it
is until it has left, so the communicator keeps a copy.
"""

import datetime
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

DTYPES = (torch.float64, torch.float32, torch.int64, torch.int32, torch.bool)
HEADER = 16  # numbers: the dtype's place, the number of axes, and their sizes
LIMIT = datetime.timedelta(seconds=30)  # for one operation, and for all processes together


class Handle:
    """A collective under way, and where its result will be."""

    def __init__(self, request, tensor):
        self.request, self.tensor = request, tensor

    def wait(self):
        self.request.wait()
        return self.tensor


class Complete:
    """Of a collective that was not begun, but done."""

    def __init__(self, result):
        self.result = result

    def wait(self):
        return self.result


class Communicator:
    """What an answer is given, in each process."""

    def __init__(self):
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.under_way = []  # requests and what they send

    def __deepcopy__(self, _):
        return self

    def send(self, tensor, dst):
        copy = tensor.detach().clone(memory_format=torch.contiguous_format)
        header = torch.zeros(HEADER, dtype=torch.int64)
        header[: 2 + copy.dim()] = torch.tensor([DTYPES.index(copy.dtype), copy.dim(), *copy.shape])
        for one in (header, copy) if copy.numel() else (header,):
            self.under_way.append((dist.isend(one, dst), one))

    def recv(self, src):
        header = torch.empty(HEADER, dtype=torch.int64)
        dist.recv(header, src)
        dtype, axes, *sizes = header.tolist()
        tensor = torch.empty(sizes[:axes], dtype=DTYPES[dtype])
        if tensor.numel():
            dist.recv(tensor, src)
        return tensor

    def all_reduce(self, tensor, op="sum", async_op=False):
        total = tensor.detach().clone(memory_format=torch.contiguous_format)
        handle = Handle(dist.all_reduce(total, getattr(dist.ReduceOp, op.upper()), async_op=True), total)
        return handle if async_op else handle.wait()

    def broadcast(self, tensor, src, async_op=False):
        copy = tensor.detach().clone(memory_format=torch.contiguous_format)
        handle = Handle(dist.broadcast(copy, src, async_op=True), copy)
        return handle if async_op else handle.wait()

    def all_to_all(self, tensors, async_op=False):
        """By messages; a handle of these is complete at once."""
        for step in range(1, self.world_size):
            self.send(tensors[(self.rank + step) % self.world_size], (self.rank + step) % self.world_size)
        own = tensors[self.rank].detach().clone(memory_format=torch.contiguous_format)
        came = [own if rank == self.rank else self.recv(rank) for rank in range(self.world_size)]
        return Complete(came) if async_op else came

    def all_gather(self, tensor, async_op=False):
        return self.all_to_all([tensor] * self.world_size, async_op)

    def reduce_scatter(self, tensors, async_op=False):
        total = sum(self.all_to_all(tensors))
        return Complete(total) if async_op else total

    def finish(self):
        for request, _ in self.under_way:
            request.wait()


def one_process(rank, world, folder, function):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    torch.set_num_threads(1)
    try:
        dist.init_process_group("gloo", f"file://{folder}/store", LIMIT, world, rank)
    except RuntimeError as error:
        raise SystemExit(f"gloo finds no network device, not even the loopback one: {error}") from None
    comm = Communicator()
    torch.save(function(comm), f"{folder}/{rank}")
    comm.finish()
    dist.barrier()
    dist.destroy_process_group()


def run_processes(world, function):
    """What function(comm) returned in each of `world` processes. Raises: TimeoutError, and what a process raised."""
    with tempfile.TemporaryDirectory() as folder:
        method = "fork" if sys.platform == "linux" else "spawn"
        context = processes.start_processes(
            one_process, (world, folder, function), world, join=False, start_method=method
        )
        for process in context.processes:
            process.join(LIMIT.total_seconds())
        if any(process.is_alive() for process in context.processes):
            for process in context.processes:
                process.kill()
            raise TimeoutError(
                f"{world} processes took more than {LIMIT.total_seconds():.0f} s: does one wait for another?"
            )
        context.join()
        return [torch.load(f"{folder}/{rank}") for rank in range(world)]
