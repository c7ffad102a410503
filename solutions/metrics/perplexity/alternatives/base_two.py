"""By hand, in bits: 2 to the mean number of bits, each row shifted by its own maximum."""

import math

import torch


def perplexity(logits, target, ignore_index=-100):
    if logits.dim() != 3 or target.dim() != 2 or logits.shape[:2] != target.shape:
        raise ValueError(f"should be (B, S, V) and (B, S), got {tuple(logits.shape)} and {tuple(target.shape)}")
    counts = target != ignore_index
    y = torch.where(counts, target, 0)
    if y.min() < 0 or y.max() >= logits.shape[-1]:
        raise ValueError("no such token")
    z = logits - logits.amax(-1, keepdim=True)
    bits = (z.exp().sum(-1).log() - torch.take_along_dim(z, y[..., None], -1)[..., 0]) / math.log(2)
    return 2 ** (bits.masked_fill(~counts, 0).sum() / counts.sum())
