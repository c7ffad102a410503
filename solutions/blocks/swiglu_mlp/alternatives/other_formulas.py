"""silu by tanh, gelu by erfc, and tanh of a clamped x; both branches are made by one product."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def silu(x):
    return x * (torch.tanh(x / 2) + 1) / 2


def gelu(x, approximate="none"):
    if approximate == "none":
        return 0.5 * x * torch.erfc(-x * 0.5**0.5)
    assert approximate == "tanh", f"unknown: {approximate}"
    near = x.clamp(-20, 20)  # beyond, tanh is 1 in any dtype
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (near + 0.044715 * near**3)))


class SwiGLUMLP(nn.Module):
    def __init__(self, embed_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.gate_proj = nn.Linear(in_features=embed_dim, out_features=hidden_dim, bias=False)
        self.up_proj = nn.Linear(in_features=embed_dim, out_features=hidden_dim, bias=False)
        self.down_proj = nn.Linear(in_features=hidden_dim, out_features=embed_dim, bias=False)

    def forward(self, x):
        both = F.linear(x, torch.cat((self.gate_proj.weight, self.up_proj.weight)))
        gate, up = both.split(self.hidden_dim, dim=-1)
        return self.down_proj(silu(gate).mul_(up))
