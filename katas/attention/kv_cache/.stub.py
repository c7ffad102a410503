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
        # TODO: make the four linear maps q_linear, k_linear, v_linear and out_linear.
        # TODO: then make it robust: refuse a num_heads that does not divide embed_dim.
        raise NotImplementedError

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Lets each new token attend to the P tokens of the cache, to earlier new ones and to itself.

        Args:
            x: (B, T, D), the new tokens.
            cache: k and v of the P tokens before them, each (B, H, P, d), as the last call returned them; None: P = 0.
        Returns: out (B, T, D), and k and v of all S = P + T tokens, each (B, H, S, d).
        Raises: ValueError if the cache has another B, H or d.
        """
        # TODO: map the new tokens alone, and split them into heads, (B, H, T, d).
        # TODO: put the keys and values of the cache before the new ones, in new tensors.
        # TODO: score the new queries against all keys; which of them does new token t see?
        # TODO: average the values with the weights, merge the heads, and apply out_linear.
        # TODO: then make it robust: refuse a cache of another B, H or d.
        raise NotImplementedError
