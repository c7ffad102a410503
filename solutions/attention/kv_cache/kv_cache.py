"""Attention with a cache by hand. Statement: katas/attention/kv_cache/README.md."""

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedAttention(nn.Module):
    """Causal multi-head attention that takes the keys and values of earlier tokens from a cache

    Args:
        embed_dim: D, the channels of a token.
        num_heads: H; divides D, so that each head has d = D / H channels.
    Raises: ValueError if num_heads does not divide embed_dim.
    Source: arXiv:1706.03762, section 3.2; the cache as in arXiv:1911.02150, section 2.4.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make the four linear maps q_linear, k_linear, v_linear and out_linear.
        # TODO: then make it robust: refuse a num_heads that does not divide embed_dim.
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim / num_heads should be a whole number, got {embed_dim} / {num_heads}")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        # --- end

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Lets each new token attend to the P tokens of the cache, to earlier new ones and to itself.

        Args:
            x: (B, T, D), the new tokens.
            cache: k and v of the P tokens before them, each (B, H, P, d), as the last call returned them; None: P = 0.
        Returns: out (B, T, D), and k and v of all S = P + T tokens, each (B, H, S, d).
        Raises: ValueError if the cache has another B, H or d.
        """
        # --- solution
        # TODO: map the new tokens alone, and split them into heads, (B, H, T, d).
        # TODO: put the keys and values of the cache before the new ones, in new tensors.
        # TODO: score the new queries against all keys; which of them does new token t see?
        # TODO: average the values with the weights, merge the heads, and apply out_linear.
        # TODO: then make it robust: refuse a cache of another B, H or d.
        B, T, D = x.shape
        H, d = self.num_heads, D // self.num_heads
        q = self.q_linear(x).view(B, T, H, d).transpose(1, 2)  # (B, H, T, d)
        k = self.k_linear(x).view(B, T, H, d).transpose(1, 2)
        v = self.v_linear(x).view(B, T, H, d).transpose(1, 2)
        if cache is not None:
            past_k, past_v = cache
            P = past_k.shape[2]
            if past_k.shape != (B, H, P, d) or past_v.shape != (B, H, P, d):
                raise ValueError(
                    f"k and v of the cache should be {(B, H, P, d)}, "
                    f"got {tuple(past_k.shape)} and {tuple(past_v.shape)}"
                )
            k = torch.cat([past_k, k], dim=2)  # (B, H, S, d)
            v = torch.cat([past_v, v], dim=2)
        S = k.shape[2]
        seen = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        scores = (q / math.sqrt(d)) @ k.mT  # (B, H, T, S)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        heads = weights @ v  # (B, H, T, d)
        return self.out_linear(heads.transpose(1, 2).reshape(B, T, D)), (k, v)
        # --- end
