"""At least float32 inside, the maximum subtracted by hand, and a queue that asks of each row which key it gets."""

import torch


def moco_loss(query, key, queue, temperature=0.07):
    assert query.dim() == queue.dim() == 2 and query.shape == key.shape and query.shape[1] == queue.shape[1]
    assert temperature > 0
    wide = torch.promote_types(query.dtype, torch.float32)
    q, k, n = (x.to(wide) / x.to(wide).norm(dim=1, keepdim=True) for x in (query, key.detach(), queue.detach()))
    logits = torch.cat([torch.linalg.vecdot(q, k)[:, None], q @ n.T], 1) / temperature
    logits = logits - logits.detach().amax(1, keepdim=True)
    return (logits.exp().sum(1).log() - logits[:, 0]).mean().to(query.dtype)


def momentum_update_(key_params, query_params, m=0.999):
    keys, queries = list(key_params), list(query_params)
    assert len(keys) == len(queries) and 0 <= m <= 1
    with torch.inference_mode():
        for i, k in enumerate(keys):
            k -= (1 - m) * (k - queries[i])


class FeatureQueue(torch.nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.queue, self.ptr = torch.nn.Parameter(torch.zeros(size, dim), requires_grad=False), 0

    def enqueue(self, keys):
        size, dim = self.queue.shape
        assert keys.dim() == 2 and keys.shape[1] == dim
        self.ptr = (self.ptr + len(keys)) % size
        age = (self.ptr - 1 - torch.arange(size)) % size  # 0 for the row of the newest key
        self.queue[age < len(keys)] = keys.detach()[len(keys) - 1 - age[age < len(keys)]]
