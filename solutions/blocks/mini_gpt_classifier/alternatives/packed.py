"""Padding columns that no text needs are cut off first; the mean by einsum with shares; q, k, v in one product."""
import torch
import torch.nn.functional as F
from torch import nn


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        d, rest = divmod(dim, heads)
        if rest:
            raise ValueError(f"{dim} channels for {heads} heads")
        self.V, self.C, self.H, self.d = vocab_size, context, heads, d
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([nn.ModuleDict(dict(
            ln1=nn.LayerNorm(dim), q_linear=nn.Linear(dim, dim), k_linear=nn.Linear(dim, dim), v_linear=nn.Linear(dim, dim),
            out_linear=nn.Linear(dim, dim), ln2=nn.LayerNorm(dim), fc1=nn.Linear(dim, 4 * dim), fc2=nn.Linear(4 * dim, dim),
        )) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        if mask.shape != ids.shape or ids.shape[1] > self.C:
            raise ValueError("shapes")
        if ((ids < 0) | (ids >= self.V)).any():
            raise ValueError("vocabulary")
        real = mask.bool()
        lengths = real.sum(1)
        if lengths.min() == 0:
            raise ValueError("empty text")
        S = int(lengths.max())
        ids, real = ids[:, :S], real[:, :S]
        x = self.token_embedding.weight[ids] + self.position_embedding.weight[:S]
        B = len(ids)
        bias = torch.zeros(real.shape, dtype=x.dtype, device=x.device).masked_fill(~real, -torch.inf)[:, None, None]
        for b in self.blocks:
            maps = (b.q_linear, b.k_linear, b.v_linear)
            qkv = F.linear(b.ln1(x), torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps]))
            q, k, v = qkv.view(B, S, 3, self.H, self.d).permute(2, 0, 3, 1, 4)
            a = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * self.d**-0.5 + bias, -1)
            x = x + b.out_linear(torch.einsum("bhij,bhjd->bihd", a, v).flatten(2))
            x = x + b.fc2(F.gelu(b.fc1(b.ln2(x))))
        share = real.to(x.dtype) / lengths[:, None].to(x.dtype)
        return self.head(torch.einsum("bs,bsd->bd", share, self.ln_f(x)))
