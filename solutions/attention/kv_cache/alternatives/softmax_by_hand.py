"""Heads by chunk and stack, einsum, a softmax by hand in float32 or better, a NamedTuple for the pair."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Pair(NamedTuple):
    k: Tensor
    v: Tensor


class CachedAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"num_heads should divide {embed_dim}, got {num_heads}")
        self.num_heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            self.add_module(name, nn.Linear(embed_dim, embed_dim))

    def forward(self, x: Tensor, cache: Pair | None = None) -> tuple[Tensor, Pair]:
        q, k, v = (
            torch.stack(layer(x).chunk(self.num_heads, dim=-1), dim=1)
            for layer in (self.q_linear, self.k_linear, self.v_linear)
        )
        if cache:
            sizes = {(one.size(0), one.size(1), one.size(3)) for one in (*cache, k, v)}
            if len(sizes) > 1:
                raise ValueError(f"cache and new tokens should agree, got {sizes}")
            k, v = (torch.cat(pair, 2) for pair in zip(cache, (k, v), strict=True))
        work = torch.promote_types(x.dtype, torch.float32)
        scores = torch.einsum("bhtd,bhsd->bhts", q.to(work), k.to(work)) / math.sqrt(q.size(-1))
        T, S = scores.shape[2:]
        seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()[-T:]
        scores = torch.where(seen, scores, -math.inf)
        shares = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
        heads = torch.einsum("bhts,bhsd->bhtd", shares / shares.sum(-1, keepdim=True), v.to(work)).to(x.dtype)
        return self.out_linear(torch.cat(heads.unbind(1), dim=-1)), Pair(k, v)
