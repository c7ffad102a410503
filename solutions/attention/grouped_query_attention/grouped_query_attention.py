"""Grouped-query attention by hand. Statement: katas/attention/grouped_query_attention/README.md."""

import math

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    """out_linear(concat_h softmax(Q_h K_gᵀ / √d) V_g),  g = h // (H / G): neighbouring query heads share K_g and V_g

    Args:
        embed_dim: D, the channels of a token.
        num_heads: H, the heads of queries; divides D, so that each head has d = D / H channels.
        num_kv_heads: G, the heads of keys and values; divides H.
    Raises: ValueError if num_heads does not divide embed_dim, or num_kv_heads does not divide num_heads.
    Source: arXiv:2305.13245, section 2.2. G = 1 is multi-query attention, arXiv:1911.02150.
    """

    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make the linear maps q_linear and out_linear (D to D), and k_linear and v_linear (D to G·d).
        # TODO: then make it robust: num_heads must divide embed_dim, and num_kv_heads must divide num_heads.
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim / num_heads should be a whole number, got {embed_dim} / {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads / num_kv_heads should be a whole number, got {num_heads} / {num_kv_heads}")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        d = embed_dim // num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * d)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * d)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        # --- end

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        """Lets every token of x (B, S, D) attend to all tokens, or, if causal, to itself and earlier ones.

        Returns: (B, S, D).
        """
        # --- solution
        # TODO: map x, and split q into H heads, k and v into G heads.
        # TODO: give each query head the keys and values of its group.
        # TODO: score every query against every key in each head; if causal, hide later keys.
        # TODO: average the values with the weights, put the heads side by side, and apply out_linear.
        B, S, D = x.shape
        H, G, d = self.num_heads, self.num_kv_heads, D // self.num_heads
        q = self.q_linear(x).view(B, S, H, d).transpose(1, 2)  # (B, H, S, d)
        k = self.k_linear(x).view(B, S, G, d).transpose(1, 2)  # (B, G, S, d)
        v = self.v_linear(x).view(B, S, G, d).transpose(1, 2)
        k = k.repeat_interleave(H // G, dim=1)  # (B, H, S, d)
        v = v.repeat_interleave(H // G, dim=1)
        scores = (q / math.sqrt(d)) @ k.mT  # (B, H, S, S)
        if causal:
            seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()
            scores = scores.masked_fill(~seen, -torch.inf)
        heads = scores.softmax(-1) @ v  # (B, H, S, d)
        return self.out_linear(heads.transpose(1, 2).reshape(B, S, D))
        # --- end
