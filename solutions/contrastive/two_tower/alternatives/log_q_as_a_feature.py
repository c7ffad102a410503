"""log q is one more feature, [u/τ, −1] · [v, log q], and everything is transposed: a column for each user."""

import torch
import torch.nn.functional as F
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, user_dim, item_dim, hidden_dim, temperature=0.05):
        super().__init__()
        assert temperature > 0
        self.item_tower = nn.Linear(item_dim, hidden_dim)
        self.user_tower = nn.Linear(user_dim, hidden_dim)
        self.temperature = temperature

    def forward(self, user, item, log_q=None, item_ids=None):
        assert all(one is None or one.shape == user.shape[:1] for one in (item[:, 0], log_q, item_ids))
        u = F.normalize(self.user_tower(user)) / self.temperature
        v = F.normalize(self.item_tower(item))
        if log_q is not None:
            u = torch.cat([u, -torch.ones_like(u[:, :1])], 1)
            v = torch.cat([v, log_q[:, None]], 1)
        z = F.linear(v, u)
        if item_ids is not None:
            number = torch.unique(item_ids, return_inverse=True)[1]
            again = torch.eq(number[:, None], number).logical_xor(torch.eye(len(z), device=z.device))
            z = z.where(~again, -torch.inf)
        return -z.log_softmax(dim=0).diagonal().mean()
