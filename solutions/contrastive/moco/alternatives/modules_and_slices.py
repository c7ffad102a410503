"""As the paper's authors write it: asserts, einsum, buffers, and two slices where the keys go round."""

import torch
from torch import nn


def moco_loss(query, key, queue, temperature=0.07):
    assert query.ndim == queue.ndim == 2 and query.shape == key.shape and query.shape[1] == queue.shape[1]
    assert temperature > 0
    query = nn.functional.normalize(query, dim=1)
    with torch.no_grad():
        key, queue = nn.functional.normalize(key, dim=1), nn.functional.normalize(queue, dim=1)
    l_pos = torch.einsum("nc,nc->n", query, key).unsqueeze(-1)
    l_neg = torch.einsum("nc,kc->nk", query, queue)
    logits = torch.cat([l_neg, l_pos], dim=1).div_(temperature)  # the place of the positive does not matter
    return nn.CrossEntropyLoss()(logits, torch.full((len(logits),), len(queue), device=logits.device))


@torch.no_grad()
def momentum_update_(key_params, query_params, m=0.999):
    assert 0.0 <= m <= 1.0
    for param_k, param_q in zip(key_params, query_params, strict=True):
        param_k.data.copy_(param_k.data * m + param_q.data * (1.0 - m))


class FeatureQueue(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.register_buffer("queue", torch.randn(size, dim))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def enqueue(self, keys):
        size, dim = self.queue.shape
        assert keys.ndim == 2 and keys.shape[1] == dim
        start = (int(self.ptr) + max(0, len(keys) - size)) % size
        keys = keys[-size:]
        before_end = keys[: size - start]
        self.queue[start : start + len(before_end)] = before_end
        self.queue[: len(keys) - len(before_end)] = keys[len(before_end) :]
        self.ptr[0] = (start + len(keys)) % size
