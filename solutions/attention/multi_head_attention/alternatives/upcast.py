"""Scores and softmax in float32 for half precision; a very negative number is added to blocked scores."""

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        head_dim, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError(f"{embed_dim} channels cannot be split among {num_heads} heads")
        self.h, self.d = num_heads, head_dim
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        b, s, _ = x.shape
        return x.reshape(b, s, self.h, self.d).permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.q_linear(query)), self.split(self.k_linear(key)), self.split(self.v_linear(value))
        wide = torch.promote_types(q.dtype, torch.float32)
        scores = q.to(wide) @ k.to(wide).transpose(2, 3) * self.d**-0.5
        if mask is not None:
            allowed = (mask != 0).expand_as(scores)
            scores = scores + torch.zeros_like(scores).masked_fill(~allowed, torch.finfo(wide).min / 2)
            attn = F.softmax(scores, -1) * allowed.any(-1, keepdim=True)
        else:
            attn = F.softmax(scores, -1)
        attn = self.dropout(attn.to(q.dtype))
        b, s, e = query.shape
        return self.out_linear((attn @ v).permute(0, 2, 1, 3).reshape(b, s, e)), attn
