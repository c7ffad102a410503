# honest: names its parts in a ModuleDict and contracts with einsum; must pass
import torch
from torch import nn


class SelfAttention(nn.Module):
    W_q: nn.Linear
    W_k: nn.Linear
    W_v: nn.Linear

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        for name in ("W_q", "W_k", "W_v"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))
        self.names = nn.ModuleDict({"q": self.W_q, "k": self.W_k, "v": self.W_v})

    def forward(self, x):
        q, k, v = (self.names[name](x) for name in "qkv")
        scores = torch.einsum("bid,bjd->bij", q * x.shape[-1] ** -0.5, k)
        weights = scores.sub(scores.amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        return torch.einsum("bij,bjd->bid", weights, v), weights
