"""torch's own layer: norm_first and a causal mask; its GELU by tanh is passed as a function."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.ln1, self.ln2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )
        self.fc1, self.fc2 = nn.Linear(embed_dim, 4 * embed_dim), nn.Linear(4 * embed_dim, embed_dim)

    def forward(self, x):
        S, D = x.shape[1:]
        layer = nn.TransformerEncoderLayer(
            D, self.num_heads, 4 * D, 0.0, partial(F.gelu, approximate="tanh"), batch_first=True, norm_first=True
        ).to(x.dtype)
        names = {"norm1": "ln1", "norm2": "ln2", "linear1": "fc1", "linear2": "fc2", "self_attn.out_proj": "out_linear"}
        own = {
            f"{name}.{one}": getattr(getattr(self, names[name]), one) for name in names for one in ("weight", "bias")
        }
        maps = (self.q_linear, self.k_linear, self.v_linear)
        own["self_attn.in_proj_weight"] = torch.cat([one.weight for one in maps])
        own["self_attn.in_proj_bias"] = torch.cat([one.bias for one in maps])
        later = torch.ones(S, S, dtype=torch.bool, device=x.device).triu(1)
        return torch.func.functional_call(layer, own, (x, later))
