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
        # TODO: make the linear maps q_linear and out_linear (D to D), and k_linear and v_linear (D to G·d).
        # TODO: then make it robust: num_heads must divide embed_dim, and num_kv_heads must divide num_heads.
        raise NotImplementedError

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        """Lets every token of x (B, S, D) attend to all tokens, or, if causal, to itself and earlier ones.

        Returns: (B, S, D).
        """
        # TODO: map x, and split q into H heads, k and v into G heads.
        # TODO: give each query head the keys and values of its group.
        # TODO: score every query against every key in each head; if causal, hide later keys.
        # TODO: average the values with the weights, put the heads side by side, and apply out_linear.
        raise NotImplementedError
