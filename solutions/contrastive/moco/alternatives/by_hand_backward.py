"""A custom autograd function without a gradient for key and queue; _foreach_lerp_; a queue by age, rolled back."""

import torch
import torch.nn.functional as F


class MoCo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, queue, t):
        norm = query.norm(dim=1, keepdim=True)
        q, k, n = query / norm, F.normalize(key, dim=1), F.normalize(queue, dim=1)
        logp = torch.hstack([(q * k).sum(1, keepdim=True), q @ n.T]).div(t).log_softmax(1)
        ctx.save_for_backward(q, k, n, norm * t * len(q), logp.exp())
        return -logp[:, 0].mean()

    @staticmethod
    def backward(ctx, grad):
        q, k, n, scale, p = ctx.saved_tensors
        along = (p[:, :1] - 1) * k + p[:, 1:] @ n
        return grad * (along - (along * q).sum(1, keepdim=True) * q) / scale, None, None, None


def moco_loss(query, key, queue, temperature=0.07):
    (N, D), (_, width) = query.shape, queue.shape  # a ValueError where there are not two axes
    assert key.shape == (N, D) and width == D and temperature > 0
    return MoCo.apply(query, key, queue, temperature)


@torch.no_grad()
def momentum_update_(key_params, query_params, m=0.999):
    keys, queries = [*key_params], [*query_params]
    assert len(keys) == len(queries) and 0 <= m <= 1
    torch._foreach_lerp_(keys, queries, 1 - m)


class FeatureQueue:
    def __init__(self, dim, size):
        self.queue, self.oldest = torch.full((size, dim), torch.nan), 0

    def enqueue(self, keys):
        assert keys.dim() == 2 and keys.shape[1] == self.queue.shape[1]
        by_age = torch.cat([self.queue.roll(-self.oldest, 0), keys.detach()])[-len(self.queue) :]
        self.oldest = (self.oldest + len(keys)) % len(self.queue)
        self.queue = by_age.roll(self.oldest, 0)
