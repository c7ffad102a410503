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
        # --- solution
        # TODO: make the two towers, and keep what forward needs.
        # TODO: then make it robust: check the temperature, and raise ValueError.
        if temperature <= 0:
            raise ValueError(f"temperature should be above 0, got {temperature}")
        self.user_tower = nn.Linear(user_dim, hidden_dim)
        self.item_tower = nn.Linear(item_dim, hidden_dim)
        self.temperature = temperature
        # --- end

    def forward(
        self, user: Tensor, item: Tensor, log_q: Tensor | None = None, item_ids: Tensor | None = None
    ) -> Tensor:
        """Takes the loss of B pairs: user (B, user_dim), item (B, item_dim), log_q and item_ids (B,) each or None.

        Returns: a scalar, in the dtype of user.
        Raises: ValueError if user and item differ in their numbers of rows, or log_q or item_ids is not (B,).
        """
        # --- solution
        # TODO: embed users and items, and make the logits (B, B): cosines, temperature, log_q, item_ids.
        # TODO: take the mean loss of the users, each of whom should find its own item.
        # TODO: then make it robust: check the shapes, and raise ValueError.
        B = len(user)
        if len(item) != B:
            raise ValueError(f"item should have {B} rows as user has, got {len(item)}")
        if log_q is not None and log_q.shape != (B,):
            raise ValueError(f"log_q should be ({B},), got {tuple(log_q.shape)}")
        if item_ids is not None and item_ids.shape != (B,):
            raise ValueError(f"item_ids should be ({B},), got {tuple(item_ids.shape)}")
        users = F.normalize(self.user_tower(user), dim=1)  # (B, hidden_dim)
        items = F.normalize(self.item_tower(item), dim=1)
        logits = users @ items.mT / self.temperature  # (B, B), a row for each user
        if log_q is not None:
            logits = logits - log_q  # each column by its item's
        own = torch.arange(B, device=user.device)  # (B,)
        if item_ids is not None:
            again = (item_ids[:, None] == item_ids) & (own[:, None] != own)
            logits = logits.masked_fill(again, -torch.inf)
        return F.cross_entropy(logits, own)
        # --- end
