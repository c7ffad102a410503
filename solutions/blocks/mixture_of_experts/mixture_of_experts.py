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
        # --- solution
        # TODO: refuse a top_k that cannot be.
        # TODO: make `router`, a linear map without bias, and `experts`, a ModuleList of Linear, GELU, Linear.
        if not 1 <= top_k <= num_experts:
            raise ValueError(f"top_k should be from 1 to num_experts, got {top_k} of {num_experts}")
        self.top_k = top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim))
            for _ in range(num_experts)
        )
        # --- end

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Maps tokens x (…, D); returns the result, like x, and the balancing loss E Σ_e f_e P_e, a scalar."""
        # --- solution
        # TODO: the probabilities of all experts; the k largest, divided by their sum, are the weights.
        # TODO: give each expert only its own tokens, and add its weighted results where they belong.
        # TODO: the loss: f is the share of the N k choices, P the mean probability of each expert.
        E = len(self.experts)
        tokens = x.reshape(-1, x.shape[-1])  # (N, D)
        shares = self.router(tokens).softmax(-1)  # (N, E)
        largest, chosen = shares.topk(self.top_k)  # (N, k)
        weights = largest / largest.sum(-1, keepdim=True)
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            n, choice = (chosen == e).nonzero(as_tuple=True)  # its tokens, and which of their choices it is
            out.index_add_(0, n, weights[n, choice, None] * expert(tokens[n]))
        counts = chosen.flatten().bincount(minlength=E).double()
        load = (counts / chosen.numel()).to(x.dtype)  # (E,)
        return out.view(x.shape), E * (load * shares.mean(0)).sum()
        # --- end
