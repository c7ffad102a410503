"""One cross-entropy of 2N rows: the images' choices, and the texts' below them."""

import math

import torch
import torch.nn.functional as F


def clip_loss(image, text, logit_scale):
    if image.dim() != 2 or text.shape != image.shape:
        raise ValueError("shapes")
    bound = torch.full_like(logit_scale, math.log(100))
    both = F.normalize(torch.stack([image, text]), dim=2)
    logits = torch.where(logit_scale < bound, logit_scale, bound).exp() * (both @ both.flip(0).mT)
    return F.cross_entropy(logits.flatten(0, 1), torch.arange(len(image), device=image.device).repeat(2))
