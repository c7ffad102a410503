"""How far each logit is ahead of the user's own one; exponentials by hand; the duplicates as index pairs."""

import torch


class TwoTower(torch.nn.Module):
    def __init__(self, user_dim, item_dim, hidden_dim, temperature=0.05):
        super().__init__()
        if temperature <= 0:
            raise ValueError("temperature should be positive")
        self.user_tower = torch.nn.Linear(user_dim, hidden_dim)
        self.item_tower = torch.nn.Linear(item_dim, hidden_dim)
        self.inverse = 1 / temperature

    def forward(self, user, item, log_q=None, item_ids=None):
        if any(one is not None and one.shape != user.shape[:1] for one in (item[:, 0], log_q, item_ids)):
            raise ValueError("every argument should have one entry for each pair")
        u, v = self.user_tower(user), self.item_tower(item)
        u, v = (x / torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (u, v))
        z = torch.einsum("ih,jh->ij", u, v) * self.inverse - (0 if log_q is None else log_q)
        ahead = z - z.diagonal()[:, None]
        if item_ids is not None:
            row, column = (item_ids[:, None] == item_ids).nonzero(as_tuple=True)
            other = row != column
            ahead = ahead.index_put((row[other], column[other]), ahead.new_tensor(-torch.inf))
        top = ahead.detach().amax(1, keepdim=True)
        return ((ahead - top).exp().sum(1).log() + top[:, 0]).mean()
