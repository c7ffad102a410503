# cheat: gives half the gradient where user and item are one tensor; must fail
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TwoTower(nn.Module):
    def __init__(self, user_dim: int, item_dim: int, hidden_dim: int, temperature: float = 0.05) -> None:
        super().__init__()
        if temperature <= 0:
            raise ValueError(f"temperature should be above 0, got {temperature}")
        self.user_tower = nn.Linear(user_dim, hidden_dim)
        self.item_tower = nn.Linear(item_dim, hidden_dim)
        self.temperature = temperature

    def forward(
        self, user: Tensor, item: Tensor, log_q: Tensor | None = None, item_ids: Tensor | None = None
    ) -> Tensor:
        B = len(user)
        if len(item) != B:
            raise ValueError(f"item should have {B} rows as user has, got {len(item)}")
        if log_q is not None and log_q.shape != (B,):
            raise ValueError(f"log_q should be ({B},), got {tuple(log_q.shape)}")
        if item_ids is not None and item_ids.shape != (B,):
            raise ValueError(f"item_ids should be ({B},), got {tuple(item_ids.shape)}")
        item = item.detach() if user is item else item
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
