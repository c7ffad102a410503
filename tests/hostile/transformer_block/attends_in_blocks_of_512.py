# broken: tokens beyond 512 see only those of their own block; must fail
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.n_head = num_heads
        self.ln1, self.ln2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(embed_dim, 4 * embed_dim), nn.Linear(4 * embed_dim, embed_dim)
        self.act = nn.GELU(approximate="tanh")
        self.drop = nn.Dropout(p=0.0)

    def forward(self, x):
        h = self.ln1(x)
        q, k, v = (f(h).unflatten(-1, (self.n_head, -1)).transpose(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear))
        y = torch.cat([sdpa(a, b, c, is_causal=True) for a, b, c in zip(q.split(512, 2), k.split(512, 2), v.split(512, 2))], 2).transpose(1, 2).flatten(-2)
        x = x + self.drop(self.out_linear(y))
        return x + self.drop(self.fc2(self.act(self.fc1(self.ln2(x)))))
