"""A custom autograd function that gives key and queue nothing; the parameters move all at once; an endless tape."""

import torch
import torch.nn.functional as F


class MoCo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, queue, t):
        norm = query.norm(dim=1, keepdim=True)
        q, k, n = query / norm, F.normalize(key, dim=1), F.normalize(queue, dim=1)
        logp = torch.hstack([(q * k).sum(1, keepdim=True), q @ n.T]).div(t).log_softmax(1)
        ctx.save_for_backward(q, k, n, norm, logp)
        ctx.t = t
        return -logp[:, 0].mean()

    @staticmethod
    def backward(ctx, grad):
        q, k, n, norm, logp = ctx.saved_tensors
        p = logp.exp()
        along = ((p[:, :1] - 1) * k + p[:, 1:] @ n) / (ctx.t * len(q))
        return grad * (along - (along * q).sum(1, keepdim=True) * q) / norm, None, None, None


def moco_loss(query, key, queue, temperature=0.07):
    (N, D), (_, width) = query.shape, queue.shape  # a ValueError where there are not two axes
    if key.shape != (N, D) or width != D or temperature <= 0:
        raise ValueError("bad arguments")
    return MoCo.apply(query, key, queue, temperature)


@torch.no_grad()
def momentum_update_(key_params, query_params, m=0.999):
    keys, queries = [*key_params], [*query_params]
    if len(keys) != len(queries) or not 0 <= m <= 1:
        raise ValueError("bad arguments")
    torch._foreach_lerp_(keys, queries, 1 - m)


class FeatureQueue:
    def __init__(self, dim, size):
        self.queue, self.oldest = torch.full((size, dim), torch.nan), 0

    def enqueue(self, keys):
        if keys.dim() != 2 or keys.shape[1] != self.queue.shape[1]:
            raise ValueError("bad keys")
        by_age = torch.cat([self.queue.roll(-self.oldest, 0), keys.detach()])[-len(self.queue) :]
        self.oldest = (self.oldest + len(keys)) % len(self.queue)
        self.queue = by_age.roll(self.oldest, 0)
