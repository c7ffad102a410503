"""The GELU written out."""

import torch
import torch.nn.functional as F
from torch import nn


class CopyIn(torch.autograd.Function):
    """Megatron's f: identity forward, all-reduce backward."""

    @staticmethod
    def forward(ctx, x, comm):
        ctx.comm = comm
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return ctx.comm.all_reduce(grad), None


class SumOut(torch.autograd.Function):
    """Megatron's g: all-reduce forward, identity backward."""

    @staticmethod
    def forward(ctx, x, comm):
        return comm.all_reduce(x)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class TensorParallelMLP(nn.Module):
    def __init__(self, comm, embed_dim, hidden_dim):
        super().__init__()
        if hidden_dim % comm.world_size:
            raise ValueError(f"hidden_dim should be divisible by {comm.world_size}, got {hidden_dim}")
        self.comm = comm
        self.fc1 = nn.Linear(embed_dim, hidden_dim // comm.world_size)
        self.fc2 = nn.Linear(hidden_dim // comm.world_size, embed_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, x):
        x = CopyIn.apply(x, self.comm)
        h = self._gelu(self.fc1(x))
        return SumOut.apply(self.fc2(h), self.comm) + self.bias

    @staticmethod
    def _gelu(x):
        return 0.5 * x * (1 + torch.erf(x * 2**-0.5))
