"""torch's attention of one layer is allowed here; the parts of the MLP also stand in a plain list."""

import torch
import torch.nn.functional as F
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads != 0:
            raise ValueError("num_heads should divide embed_dim")
        super().__init__()
        self.num_heads = num_heads
        self.ln1, self.ln2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(embed_dim, embed_dim) for _ in range(3))
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.fc1, self.fc2 = nn.Linear(embed_dim, 4 * embed_dim), nn.Linear(4 * embed_dim, embed_dim)
        self.mlp = [self.ln2, self.fc1, nn.GELU("tanh"), self.fc2]

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).movedim(2, 1)

    def forward(self, x):
        normed = self.ln1(x)
        q, k, v = self.heads(self.q_linear(normed)), self.heads(self.k_linear(normed)), self.heads(self.v_linear(normed))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = torch.add(x, self.out_linear(mixed.movedim(1, 2).flatten(-2)))
        change = x
        for layer in self.mlp:
            change = layer(change)
        return torch.add(x, change)
