"""F.silu and F.gelu."""

import torch.nn.functional as F
from torch import nn


def silu(x):
    return F.silu(x)


def gelu(x, approximate="none"):
    return F.gelu(x, approximate=approximate)


class SwiGLUMLP(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
