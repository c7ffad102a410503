"""A hook on x sums its gradient."""

import torch
import torch.nn.functional as F
from torch import nn


class SumOut(torch.autograd.Function):
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
        inner = x
        if x.requires_grad and torch.is_grad_enabled():
            inner = x.view_as(x)
            inner.register_hook(self.comm.all_reduce)
        return SumOut.apply(self.fc2(F.gelu(self.fc1(inner))), self.comm) + self.bias
