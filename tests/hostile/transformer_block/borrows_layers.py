# honest: an MLP of nn.Sequential that shares the layers, a dropout of 0, torch's attention of one call; must pass
import torch.nn.functional as F
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.ln1 = nn.LayerNorm(embed_dim)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.ln2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, 4 * embed_dim)
        self.fc2 = nn.Linear(4 * embed_dim, embed_dim)
        self.mlp = nn.Sequential(self.fc1, nn.GELU(approximate="tanh"), self.fc2, nn.Dropout(0.0))

    def forward(self, x):
        B, S, D = x.shape
        h = self.ln1(x)
        q, k, v = (f(h).view(B, S, self.num_heads, -1).transpose(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear))
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0, is_causal=True)
        x = x + self.out_linear(a.transpose(1, 2).contiguous().view(B, S, D))
        return x + self.mlp(self.ln2(x))
