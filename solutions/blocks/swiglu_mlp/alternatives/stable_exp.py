"""σ by the exponential of −|x|, which never overflows; einsum for the layers."""

import math

import torch
from torch import nn


def silu(x):
    e = torch.exp(-x.abs())
    return x * torch.where(x >= 0, torch.ones_like(e), e) / (1 + e)


def gelu(x, approximate="none"):
    match approximate:
        case "none":
            return x * (0.5 + 0.5 * torch.erf(x / math.sqrt(2)))
        case "tanh":
            y = x.double()
            return (0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * torch.pow(y, 3))))).to(x.dtype)
        case _:
            raise ValueError("approximate should be none or tanh")


class SwiGLUMLP(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        for name, inputs, outputs in (
            ("gate_proj", embed_dim, hidden_dim),
            ("up_proj", embed_dim, hidden_dim),
            ("down_proj", hidden_dim, embed_dim),
        ):
            setattr(self, name, nn.Linear(inputs, outputs, bias=False))

    def forward(self, x):
        h = silu(torch.einsum("...d,hd->...h", x, self.gate_proj.weight))
        h = torch.einsum("...h,...h->...h", h, self.up_proj(x))
        return torch.einsum("...h,dh->...d", h, self.down_proj.weight)
