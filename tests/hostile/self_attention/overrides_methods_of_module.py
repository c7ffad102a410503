# honest: overrides methods of Module, with buffers, hooks and a module inside; must pass
import math
from functools import cached_property
import torch
from torch import Tensor, nn


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.0)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v):
        scores = torch.bmm(q / math.sqrt(q.size(-1)), k.transpose(1, 2))
        weights = self.dropout(self.softmax(scores))
        return torch.bmm(weights, v), weights


class SelfAttention(nn.Module):
    __constants__ = ["embed_dim"]
    attention: nn.Module

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.W_q, self.W_k, self.W_v = (nn.Linear(embed_dim, embed_dim, bias=True) for _ in range(3))
        self.register_buffer("scale", torch.tensor(embed_dim**-0.5))
        self.attention = Attend()
        self._reset_parameters()
        self.register_forward_pre_hook(lambda module, args: None)
        self.register_full_backward_hook(lambda module, gi, go: None)

    def _reset_parameters(self):
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)

    @property
    def device(self):
        return next(self.parameters()).device

    def extra_repr(self):
        return f"embed_dim={self.embed_dim}"

    def train(self, mode=True):
        return super().train(mode)

    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        assert x.ndim == 3 and x.device == self.device
        return self.attention(self.W_q(x), self.W_k(x), self.W_v(x))
