"""torch.topk instead of a sort, scattered over −∞; drawn as the largest of logits with Gumbel noise."""

import torch


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError("temperature")
    if not (top_k is None or top_k >= 1):
        raise ValueError("top_k")
    if not (top_p is None or 0 < top_p <= 1):
        raise ValueError("top_p")
    V = logits.shape[-1]
    z = logits / temperature if temperature else logits
    best, index = torch.topk(z, V if top_k is None else min(top_k, V))
    if top_p is not None:
        p = best.softmax(-1, dtype=torch.float64)
        before = p.cumsum(-1).roll(1, -1)
        before[..., 0] = 0
        best = best.masked_fill(before >= top_p, -torch.inf)
    if not temperature:
        best, index = best[..., :1], index[..., :1]
    return torch.full_like(z, -torch.inf).scatter(-1, index, best)


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    z = filter_logits(logits, temperature, top_k, top_p)
    u = torch.rand(z.shape, generator=generator, dtype=torch.float64, device=z.device).clamp_min(1e-300)
    return torch.argmax(z.double() - torch.log(-torch.log(u)), dim=-1)
