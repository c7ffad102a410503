"""Two Functions made by one function, from what they do forward and backward."""

import torch
import torch.nn.functional as F
from torch import nn


def make(forward_op, backward_op):
    class Op(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return forward_op(comm, x)

        @staticmethod
        def backward(ctx, g):
            return backward_op(ctx.comm, g), None

    return Op.apply


same = lambda comm, t: t.clone()
summed = lambda comm, t: comm.all_reduce(t)
f, g = make(same, summed), make(summed, same)


class Column(nn.Linear):
    pass


class TensorParallelMLP(nn.Module):
    def __init__(self, comm, embed_dim, hidden_dim):
        super().__init__()
        if hidden_dim % comm.world_size:
            raise ValueError(f"hidden_dim should be divisible by {comm.world_size}, got {hidden_dim}")
        self.comm = comm
        self.fc1 = Column(embed_dim, hidden_dim // comm.world_size)
        self.fc2 = nn.Linear(hidden_dim // comm.world_size, embed_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, x):
        return g(self.fc2(nn.functional.gelu(self.fc1(f(x, self.comm)), approximate="none")), self.comm) + self.bias
