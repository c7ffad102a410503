# honest: the cache is a method of an object that keeps only the inputs, and goes over the queries in chunks; must pass
import torch


class Attention:
    def __init__(self, q, k, v, mask):
        self.q, self.k, self.v = q, k, v
        self.mask = torch.ones((), dtype=torch.bool) if mask is None else mask
        self.mask = self.mask.expand(*q.shape[:3], k.shape[2])

    def chunks(self, size=64):
        for start in range(0, self.q.shape[2], size):
            rows = slice(start, start + size)
            hidden = ~self.mask[:, :, rows]
            scores = torch.matmul(self.q[:, :, rows], self.k.mT) * self.q.shape[-1] ** -0.5
            scores = scores.masked_fill(hidden, float("-inf"))
            highest = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
            e = torch.exp(scores - highest)
            total = e.sum(-1, keepdim=True)
            yield rows, e / total.masked_fill(total == 0, 1)

    def forward(self):
        return torch.cat([weights @ self.v for _, weights in self.chunks()], dim=2)

    def backward(self, grad):
        dq, dk, dv = [], 0, 0
        for rows, weights in self.chunks():
            g = grad[:, :, rows]
            pull = weights * torch.matmul(g, self.v.mT)
            pull = (pull - weights * pull.sum(-1, keepdim=True)) * self.q.shape[-1] ** -0.5
            dq.append(pull @ self.k)
            dk, dv = dk + pull.mT @ self.q[:, :, rows], dv + weights.mT @ g
        return torch.cat(dq, dim=2), dk, dv


def attention_forward(q, k, v, mask=None):
    assert q.shape[:2] == k.shape[:2] == v.shape[:2] and q.shape[3] == k.shape[3] and k.shape[2] == v.shape[2]
    if mask is not None:
        sizes = [*q.shape[:3], k.shape[2]]
        assert mask.dim() <= 4 and all(m in (1, n) for m, n in zip(reversed(mask.shape), reversed(sizes)))
    attention = Attention(q, k, v, mask)
    return attention.forward(), attention.backward


def attention_backward(grad_output, cache):
    return cache(grad_output)
