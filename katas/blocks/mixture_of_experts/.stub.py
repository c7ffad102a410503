"""A mixture of experts by hand. Statement: katas/blocks/mixture_of_experts/README.md."""

import torch
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    """out(x) = Σ_{e chosen} w_e(x) expert_e(x): each token is mapped by the k experts that the router prefers

    Args:
        embed_dim: D, the channels of a token.
        hidden_dim: the channels inside an expert.
        num_experts: E.
        top_k: k, how many experts a token is given to.
    Raises: ValueError if top_k is below 1 or above num_experts.
    Source: arXiv:2401.04088 (Mixtral), section 2.1, for the output; arXiv:2101.03961 (Switch Transformer), eq. 4, for
        the loss, which counts k choices of a token here.
    """

    def __init__(self, embed_dim: int, hidden_dim: int, num_experts: int, top_k: int = 2) -> None:
        super().__init__()
        # TODO: refuse a top_k that cannot be.
        # TODO: make `router`, a linear map without bias, and `experts`, a ModuleList of Linear, GELU, Linear.
        raise NotImplementedError

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Maps tokens x (…, D); returns the result, like x, and the balancing loss E Σ_e f_e P_e, a scalar."""
        # TODO: the probabilities of all experts; the k largest, divided by their sum, are the weights.
        # TODO: give each expert only its own tokens, and add its weighted results where they belong.
        # TODO: the loss: f is the share of the N k choices, P the mean probability of each expert.
        raise NotImplementedError
