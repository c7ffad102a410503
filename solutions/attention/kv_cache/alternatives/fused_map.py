"""One product for q, k and v, new tensors that are filled, batch and heads as one axis, a bias of −∞."""

import torch
import torch.nn.functional as F
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim // num_heads * num_heads != embed_dim:
            raise ValueError("num_heads should divide embed_dim")
        super().__init__()
        self.num_heads = num_heads
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.q_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        H, d = self.num_heads, D // self.num_heads
        maps = (self.q_linear, self.k_linear, self.v_linear)
        weight, bias = torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps])
        q, k, v = F.linear(x, weight, bias).view(B, T, 3, H, d).permute(2, 0, 3, 1, 4)
        P = 0
        if cache is not None:
            P = cache[0].shape[2]
            if any(one.shape != (B, H, P, d) for one in cache):
                raise ValueError("the cache should be (B, H, P, d)")
            both = x.new_empty(2, B, H, P + T, d)
            both[0, :, :, :P], both[0, :, :, P:] = cache[0], k
            both[1, :, :, :P], both[1, :, :, P:] = cache[1], v
            k, v = both
        S = P + T
        hidden = x.new_full((T, S), -torch.inf).triu(P + 1).expand(B * H, T, S)
        keys, values = k.reshape(B * H, S, d), v.reshape(B * H, S, d)
        weights = torch.baddbmm(hidden, q.reshape(B * H, T, d), keys.mT, alpha=d**-0.5).softmax(-1)
        heads = torch.bmm(weights, values).view(B, H, T, d)
        return self.out_linear(heads.transpose(1, 2).reshape(B, T, D)), (k, v)
