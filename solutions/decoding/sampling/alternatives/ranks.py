"""A rank for each token in its own place, and an added bias; drawn as a race of exponential clocks."""

import torch


@torch.no_grad()
def bias(z, top_k, top_p):
    order = z.argsort(-1, descending=True)
    rank = order.argsort(-1)
    dropped = rank >= top_k if top_k is not None else torch.zeros_like(rank, dtype=torch.bool)
    if top_p is not None:
        weights = (z - z.amax(-1, keepdim=True)).exp().masked_fill(dropped, 0)
        ordered = weights.gather(-1, order)
        larger = (ordered.cumsum(-1) - ordered).gather(-1, rank)
        dropped = dropped | (larger >= top_p * weights.sum(-1, keepdim=True))
    return torch.zeros_like(z).masked_fill(dropped, -torch.inf)


def filter_logits(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k or 1) < 1 or top_k == 0 or not 0 < (1 if top_p is None else top_p) <= 1:
        raise ValueError("temperature should be at least 0, top_k at least 1, top_p above 0 and at most 1")
    if temperature == 0:
        temperature, top_k = 1, 1
    z = logits / temperature
    return z + bias(z.double(), top_k, top_p).to(z.dtype)


def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    p = filter_logits(logits, temperature, top_k, top_p).double().softmax(-1)
    clocks = torch.empty_like(p).exponential_(generator=generator)
    return (clocks / p).argmin(-1)
