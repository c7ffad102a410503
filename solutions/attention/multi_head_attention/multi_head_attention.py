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

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Lets every token of query (B, Sq, D) attend to the tokens of key and value, both (B, Sk, D).

        Args:
            mask: broadcasts to (B, H, Sq, Sk); where it is 0 or False the key is blocked. A query with every
                key blocked has weights of 0, and its output is the bias of out_linear.
        Returns: output (B, Sq, D) and the weights (B, H, Sq, Sk).
        """
        # --- solution
        # TODO: map query, key and value with their linear maps.
        # TODO: give each head its channels of every token, as the statement numbers them.
        # TODO: score every query against every key in each head, and scale the scores.
        # TODO: turn the scores into weights over the keys; a blocked key gets 0.
        # TODO: average the values with the weights, put the heads side by side, and apply out_linear.
        # TODO: then make it robust: what does a query get if all keys are blocked for it?
        B, Sq, D = query.shape
        d = D // self.num_heads
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, d)).transpose(1, 2)  # (B, H, Sq or Sk, d)
            for layer, x in ((self.q_linear, query), (self.k_linear, key), (self.v_linear, value))
        )
        scores = (q / math.sqrt(d)) @ k.mT  # (B, H, Sq, Sk)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        attn = torch.softmax(scores, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0)  # where every key is blocked, the softmax gave 1/Sk to each
        heads = attn @ v  # (B, H, Sq, d)
        return self.out_linear(heads.transpose(1, 2).reshape(B, Sq, D)), attn
        # --- end
