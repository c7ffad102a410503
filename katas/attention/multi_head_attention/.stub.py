"""Multi-head attention by hand. Statement: katas/attention/multi_head_attention/README.md."""

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """MHA(X, Y, Z) = out_linear(concat_h(A_h V_h)),  A_h = softmax(Q_h K_hᵀ / √d)

    Q, K and V are linear maps of the query, the key and the value; head h has their channels h·d to (h + 1)·d − 1.

    Args:
        embed_dim: D, the channels of a token.
        num_heads: H; divides D, so that each head has d = D / H channels.
    Raises: ValueError if num_heads does not divide embed_dim.
    Source: arXiv:1706.03762, eq. 1 and section 3.2.2. Our D is their d_model, our d their d_k = d_v.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: make the four linear maps q_linear, k_linear, v_linear and out_linear.
        # TODO: then make it robust: refuse a num_heads that does not divide embed_dim.
        raise NotImplementedError

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Lets every token of query (B, Sq, D) attend to the tokens of key and value, both (B, Sk, D).

        Args:
            mask: broadcasts to (B, H, Sq, Sk); where it is 0 or False the key is blocked. A query with every
                key blocked has weights of 0, and its output is the bias of out_linear.
        Returns: output (B, Sq, D) and the weights (B, H, Sq, Sk).
        """
        # TODO: map query, key and value with their linear maps.
        # TODO: give each head its channels of every token, as the statement numbers them.
        # TODO: score every query against every key in each head, and scale the scores.
        # TODO: turn the scores into weights over the keys; a blocked key gets 0.
        # TODO: average the values with the weights, put the heads side by side, and apply out_linear.
        # TODO: then make it robust: what does a query get if all keys are blocked for it?
        raise NotImplementedError
