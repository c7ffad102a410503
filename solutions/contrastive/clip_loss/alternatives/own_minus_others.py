"""Differences to the own pair, in float32 for half precision: log Σ exp(z_ij − z_ii) and log Σ exp(z_ji − z_ii)."""

import math

import torch


def clip_loss(image, text, logit_scale):
    assert image.dim() == text.dim() == 2
    assert image.shape == text.shape
    dtype = image.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    image, text, scale = image.to(wide), text.to(wide), logit_scale.to(wide)
    scale = torch.exp(math.log(100) - torch.relu(math.log(100) - scale))
    image = image * image.square().sum(1, keepdim=True).rsqrt()
    text = text * text.square().sum(1, keepdim=True).rsqrt()
    logits = image @ text.T * scale
    own = logits.diagonal()
    losses = torch.logsumexp(logits - own[:, None], 1) + torch.logsumexp(logits - own, 0)
    return (losses.sum() / (2 * len(losses))).to(dtype)
