"""A class of its own for the cache, positions compared, the dtype's least number for hidden scores."""

import torch
from torch import nn


class Kept:
    def __init__(self, cache):
        self.k, self.v = cache if cache is not None else (None, None)

    def __len__(self):
        return 0 if self.k is None else self.k.shape[-2]

    def followed_by(self, k, v):
        if self.k is None:
            return Kept((k, v))
        for old, new in ((self.k, k), (self.v, v)):
            assert old.shape[:2] == new.shape[:2], "batch and heads"
            assert old.shape[3] == new.shape[3], "channels of a head"
        return Kept((torch.cat([self.k, k], -2), torch.cat([self.v, v], -2)))


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0, "embed_dim should be divisible by num_heads"
        self.num_heads = num_heads
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def heads_of(self, x):
        return x.reshape(*x.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, cache=None):
        past = Kept(cache)
        now = past.followed_by(self.heads_of(self.k_linear(x)), self.heads_of(self.v_linear(x)))
        q = self.heads_of(self.q_linear(x))
        at = torch.arange(len(now), device=x.device)
        later = at > at[len(past) :, None]
        scores = torch.matmul(q * q.size(-1) ** -0.5, now.k.transpose(2, 3))
        weights = scores.masked_fill(later, torch.finfo(scores.dtype).min).softmax(-1)
        return self.out_linear((weights @ now.v).permute(0, 2, 1, 3).flatten(2)), (now.k, now.v)
