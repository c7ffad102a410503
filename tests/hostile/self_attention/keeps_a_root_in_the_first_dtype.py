# broken: keeps the root of the width as the first call's dtype has it, and casts it; must fail
"""Self-attention by hand. Statement: katas/attention/self_attention/README.md."""

import math

import torch
from torch import Tensor, nn

ROOTS = {}


class SelfAttention(nn.Module):
    """A = softmax(Q Kᵀ / √D),  out = A V,  with Q, K and V linear maps of the same tokens.

    Args:
        embed_dim: D, the channels of a token.
    Source: arXiv:1706.03762, eq. 1, for one head. Our D is their d_model = d_k = d_v.
    """

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Lets every token of x (B, S, D) attend to every token of its sequence.

        Returns: out (B, S, D) and the weights (B, S, S), whose rows, one for each query, add up to 1.
        """
        # --- solution
        # TODO: map x to queries, keys and values.
        # TODO: score every query against every key of its sequence, as in the formula.
        # TODO: turn each query's scores into weights that add up to 1 over the keys.
        # TODO: return the weighted sums of the values, and the weights.
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)  # each (B, S, D)
        d = x.shape[-1]
        if d not in ROOTS:
            ROOTS[d] = x.new_tensor(d).sqrt()
        scores = (q / ROOTS[d].to(x.dtype)) @ k.mT  # (B, S, S)
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
        # --- end
