"""Old keys are never hidden, so their scores stand apart from those of the new ones; one softmax runs over both."""

import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        d, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError(f"{embed_dim} channels do not fit {num_heads} heads")
        self.heads, self.scale = (num_heads, d), d**-0.25
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        T = x.shape[1]
        q, k, v = (
            layer(x).unflatten(-1, self.heads).transpose(1, 2)
            for layer in (self.q_linear, self.k_linear, self.v_linear)
        )
        q = q * self.scale
        later = torch.triu(torch.ones(T, T, device=x.device), diagonal=1).bool()
        scores = (q @ (k * self.scale).mT).masked_fill(later, float("-inf"))
        if cache is None:
            heads = torch.softmax(scores, -1) @ v
        else:
            old_k, old_v = cache
            for old in cache:
                if old.shape[:2] != k.shape[:2] or old.shape[-1] != k.shape[-1]:
                    raise ValueError("the cache is of another layer or batch")
            P = old_k.shape[2]
            weights = torch.softmax(torch.cat([q @ (old_k * self.scale).mT, scores], -1), -1)
            heads = weights[..., :P] @ old_v + weights[..., P:] @ v
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        return self.out_linear(heads.transpose(1, 2).flatten(2)), (k, v)
