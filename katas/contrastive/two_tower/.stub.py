"""A two-tower retrieval model. Statement: katas/contrastive/two_tower/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TwoTower(nn.Module):
    """L = −1/B Σ_i log(exp(z_ii) / Σ_j exp(z_ij)),  z_ij = cos(u_i, v_j)/τ − log_q_j

    u_i and v_j are the embeddings of user i and item j. Where row j ≠ i holds the same item as row i, z_ij = −∞.

    Args:
        user_dim, item_dim: how many features a user has, and how many an item.
        hidden_dim: the length of the embeddings.
        temperature: τ, above 0.
    Raises: ValueError if temperature is not above 0.
    Source: Yi et al., Sampling-Bias-Corrected Neural Modeling for Large Corpus Item Recommendations, RecSys 2019.
    """

    def __init__(self, user_dim: int, item_dim: int, hidden_dim: int, temperature: float = 0.05) -> None:
        super().__init__()
        # TODO: make the two towers, and keep what forward needs.
        # TODO: then make it robust: check the temperature, and raise ValueError.
        raise NotImplementedError

    def forward(
        self, user: Tensor, item: Tensor, log_q: Tensor | None = None, item_ids: Tensor | None = None
    ) -> Tensor:
        """Takes the loss of B pairs: user (B, user_dim), item (B, item_dim), log_q and item_ids (B,) each or None.

        Returns: a scalar, in the dtype of user.
        Raises: ValueError if user and item differ in their numbers of rows, or log_q or item_ids is not (B,).
        """
        # TODO: embed users and items, and make the logits (B, B): cosines, temperature, log_q, item_ids.
        # TODO: take the mean loss of the users, each of whom should find its own item.
        # TODO: then make it robust: check the shapes, and raise ValueError.
        raise NotImplementedError
