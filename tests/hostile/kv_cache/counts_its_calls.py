# honest: a list for the cache, a table of what may be seen that grows when a text outgrows it, prints; must pass
import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads, self.calls = num_heads, 0
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = [nn.Linear(embed_dim, embed_dim) for _ in "qkvo"]
        self.register_buffer("seen", torch.ones(4, 4).tril())

    def forward(self, x, cache=None):
        self.calls += 1
        B, T, D = x.shape
        q = self.q_linear(x).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        k = self.k_linear(x).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        v = self.v_linear(x).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        if cache is not None:
            k_past, v_past = cache
            for past in (k_past, v_past):
                assert past.size(0) == B and past.size(1) == self.num_heads and past.size(3) == q.size(3), past.shape
            k, v = torch.cat((k_past, k), 2), torch.cat((v_past, v), 2)
        P, S = k.size(2) - T, k.size(2)
        if len(self.seen) < S:
            self.seen = torch.ones(2 * S, 2 * S).tril()
        print(f"call {self.calls}: {P} old tokens, {T} new ones")
        scores = q @ k.transpose(-2, -1) / (D // self.num_heads) ** 0.5
        scores = scores.masked_fill(self.seen[P:S, :S] == 0, float("-inf"))
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D)
        return self.out_linear(y), [k, v]
