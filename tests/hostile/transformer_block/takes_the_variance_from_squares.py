# broken: the variance is the mean of squares less the squared mean; must fail
import math
import torch
from torch import nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads should divide embed_dim")
        self.num_heads = num_heads
        self.ln1, self.ln2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
        self.q_linear, self.k_linear = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.v_linear, self.out_linear = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.fc1, self.fc2 = nn.Linear(embed_dim, 4 * embed_dim), nn.Linear(4 * embed_dim, embed_dim)

    def norm(self, ln, x):
        mean = x.mean(-1, keepdim=True)
        var = x.pow(2).mean(-1, keepdim=True) - mean * mean
        return (x - mean) / torch.sqrt(var + 1e-5) * ln.weight + ln.bias

    def forward(self, x):
        B, S, D = x.shape
        h = self.norm(self.ln1, x)
        q, k, v = (f(h).view(B, S, self.num_heads, -1).transpose(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out_linear(a.transpose(1, 2).reshape(B, S, D))
        return x + self.fc2(F.gelu(self.fc1(self.norm(self.ln2, x)), approximate="tanh"))
