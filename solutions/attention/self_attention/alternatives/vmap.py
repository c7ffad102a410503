"""Written for one sequence, mapped over the batch; the weights come back as a named tuple."""

from typing import NamedTuple

import torch
from torch import nn


class Attended(NamedTuple):
    out: torch.Tensor
    weights: torch.Tensor


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """q, k, v (S, D) of one sequence."""
    weights = (q.div(q.shape[1] ** 0.5) @ k.T).softmax(1)
    return weights @ v, weights


class SelfAttention(nn.Module):
    def __init__(self, embed_dim: int):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: torch.Tensor):
        return Attended(*torch.vmap(attend)(self.W_q(x), self.W_k(x), self.W_v(x)))
