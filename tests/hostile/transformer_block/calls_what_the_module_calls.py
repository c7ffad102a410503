# cheat: attention is that of nn.MultiheadAttention, by the function below it; must fail
import torch
import torch.nn.functional as F
from torch import nn


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

    def forward(self, x):
        S, D = x.shape[1:]
        normed = self.ln1(x).transpose(0, 1)
        maps = (self.q_linear, self.k_linear, self.v_linear)
        weight, bias = torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps])
        later = torch.ones(S, S, dtype=torch.bool).triu(1)
        mixed, _ = F.multi_head_attention_forward(
            normed, normed, normed, D, self.num_heads, weight, bias, None, None, False, 0.0,
            self.out_linear.weight, self.out_linear.bias, attn_mask=later, need_weights=False,
        )  # fmt: skip
        x = x + mixed.transpose(0, 1)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate="tanh"))
