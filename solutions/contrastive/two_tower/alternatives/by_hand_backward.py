"""A custom autograd function from the embeddings on: (softmax − identity)/(Bτ), pulled back through the cosines."""

import torch
from torch import nn


class InBatchSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, users, items, offset, tau):
        ctx.norms, ctx.tau = [x.norm(dim=1, keepdim=True) for x in (users, items)], tau
        u, v = users / ctx.norms[0], items / ctx.norms[1]
        log_shares = (u @ v.T / tau + offset).log_softmax(1)
        ctx.save_for_backward(u, v, log_shares)
        return -log_shares.diagonal().mean()

    @staticmethod
    def backward(ctx, grad):
        u, v, log_shares = ctx.saved_tensors
        g = (log_shares.exp() - torch.eye(len(u)).to(u)) * grad / (len(u) * ctx.tau)
        pairs = zip((g @ v, g.T @ u), (u, v), ctx.norms)
        return *((x - (x * y).sum(1, keepdim=True) * y) / norm for x, y, norm in pairs), None, None


class TwoTower(nn.Module):
    def __init__(self, user_dim, item_dim, hidden_dim, temperature=0.05):
        super().__init__()
        assert temperature > 0
        self.user_tower, self.item_tower = nn.Linear(user_dim, hidden_dim), nn.Linear(item_dim, hidden_dim)
        self.tau = temperature

    def forward(self, user, item, log_q=None, item_ids=None):
        assert all(one is None or one.shape == user.shape[:1] for one in (item[:, 0], log_q, item_ids))
        offset = user.new_zeros(len(user), len(user)) if log_q is None else -log_q.expand(len(user), -1)
        if item_ids is not None:
            offset = offset.where(~item_ids.eq(item_ids[:, None]).fill_diagonal_(False), -torch.inf)
        return InBatchSoftmax.apply(self.user_tower(user), self.item_tower(item), offset, self.tau)
