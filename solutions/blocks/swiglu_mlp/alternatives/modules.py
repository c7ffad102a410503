"""The activations are modules, which the functions call."""

import math

import torch
from torch import nn


class SiLU(nn.Module):
    def forward(self, x):
        return x * x.sigmoid()


class GELU(nn.Module):
    def __init__(self, approximate):
        super().__init__()
        if approximate not in {"none", "tanh"}:
            raise ValueError(approximate)
        self.approximate = approximate

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        if self.approximate == "none":
            return (y * (1 + torch.erf(y / math.sqrt(2))) / 2).type_as(x)
        inner = math.sqrt(2 / math.pi) * y * (1 + 0.044715 * y**2)
        return (y * (1 + inner.tanh()) / 2).type_as(x)


def silu(x):
    return SiLU()(x)


def gelu(x, approximate="none"):
    return GELU(approximate)(x)


class SwiGLUMLP(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()

        def linear(inputs, outputs):
            return nn.Linear(inputs, outputs, bias=False)

        self.gate_proj, self.up_proj = linear(embed_dim, hidden_dim), linear(embed_dim, hidden_dim)
        self.down_proj, self.act = linear(hidden_dim, embed_dim), SiLU()

    def forward(self, x):
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))
