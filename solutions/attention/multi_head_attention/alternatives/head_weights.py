"""The weights are viewed head by head, so that tokens are neither split nor put together again."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim != embed_dim // num_heads * num_heads:
            raise ValueError("every head needs as many channels")
        self.shape = num_heads, embed_dim // num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def heads(self, layer, x):
        weight, bias = layer.weight.unflatten(0, self.shape), layer.bias.unflatten(0, self.shape)
        return torch.einsum("bse,hde->bhsd", x, weight) + bias.unsqueeze(1)

    def forward(self, query, key, value, mask=None):
        q = self.heads(self.q_linear, query) * self.shape[1] ** -0.5
        scores = torch.einsum("bhid,bhjd->bhij", q, self.heads(self.k_linear, key))
        if mask is not None:
            scores = torch.where(mask != 0, scores, torch.finfo(scores.dtype).min)
        attn = scores.softmax(dim=-1)
        if mask is not None:
            attn = attn * (mask != 0)
        merge = self.out_linear.weight.unflatten(1, self.shape)
        output = torch.einsum("bhij,bhjd,ehd->bie", attn, self.heads(self.v_linear, value), merge)
        return output + self.out_linear.bias, attn
