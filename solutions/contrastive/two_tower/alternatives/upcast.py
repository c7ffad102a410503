"""Half precision is widened, lengths are taken by rsqrt, and duplicates get the least number of the dtype."""

import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, user_dim, item_dim, hidden_dim, temperature=0.05):
        super().__init__()
        assert temperature > 0, "temperature must be positive"
        self.user_tower = nn.Linear(user_dim, hidden_dim)
        self.item_tower = nn.Linear(item_dim, hidden_dim)
        self.temperature, self.criterion = float(temperature), nn.CrossEntropyLoss()

    def forward(self, user, item, log_q=None, item_ids=None):
        n, dtype = user.shape[0], user.dtype
        if any(one is not None and one.shape != (n,) for one in (item[:, 0], log_q, item_ids)):
            raise ValueError(f"item, log_q and item_ids must have {n} entries")
        wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
        u, v = self.user_tower(user).to(wide), self.item_tower(item).to(wide)
        u, v = (x * x.square().sum(-1, keepdim=True).rsqrt() for x in (u, v))
        logits = torch.mm(u, v.T).div(self.temperature)
        if log_q is not None:
            logits = logits.sub(log_q.to(wide))
        if item_ids is not None:
            same = item_ids.reshape(-1, 1) == item_ids.reshape(1, -1)
            logits = torch.where(same.triu(1) | same.tril(-1), torch.finfo(wide).min, logits)
        return self.criterion(logits, torch.arange(n, device=logits.device)).to(dtype)
