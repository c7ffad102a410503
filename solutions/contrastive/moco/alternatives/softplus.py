"""−log(p / (p + Σ)) as a softplus; two iterators walked side by side; chunks of at most `size` keys."""

import torch
import torch.nn.functional as F


def moco_loss(query, key, queue, temperature=0.07):
    if not (query.ndim == key.ndim == queue.ndim == 2) or query.size() != key.size() or query.size(1) != queue.size(1):
        raise ValueError("sizes do not match")
    if temperature <= 0:
        raise ValueError("temperature")
    positive = F.cosine_similarity(query, key.detach(), dim=1) / temperature
    negatives = F.normalize(query) @ F.normalize(queue.detach()).T / temperature
    return F.softplus(negatives.logsumexp(dim=1) - positive).mean()


def momentum_update_(key_params, query_params, m=0.999):
    queries, end = iter(query_params), object()
    for k in key_params:
        q = next(queries, end)
        if q is end:
            raise ValueError("too few query_params")
        k.detach().copy_(m * k.detach() + (1 - m) * q.detach())
    if m < 0 or m > 1 or next(queries, end) is not end:
        raise ValueError("m, or too few key_params")


class FeatureQueue:
    def __init__(self, dim, size):
        self.queue, self.seen = torch.empty(size, dim), 0

    def enqueue(self, keys):
        size, dim = self.queue.shape
        if keys.shape[1:] != (dim,):
            raise ValueError("keys")
        for chunk in keys.detach().split(size):
            rows = torch.arange(self.seen, self.seen + len(chunk), device=chunk.device) % size
            self.queue.index_copy_(0, rows, chunk)
            self.seen += len(chunk)
