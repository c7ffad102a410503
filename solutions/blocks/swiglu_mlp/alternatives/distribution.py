"""Φ is torch's, tanh is written as a sigmoid, and products are matrix products."""

import math

import torch
from torch import nn


def silu(x):
    return torch.sigmoid(x).mul(x)


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * torch.special.ndtr(x.double()).to(x.dtype)
    if approximate == "tanh":
        z = x.double()
        return (z * torch.sigmoid(math.sqrt(8 / math.pi) * z * (1 + 0.044715 * z * z))).to(x.dtype)
    raise ValueError(f"approximate is {approximate}")


class SwiGLUMLP(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        gate, up = x @ self.gate_proj.weight.T, x @ self.up_proj.weight.T
        return (up * silu(gate)) @ self.down_proj.weight.T
