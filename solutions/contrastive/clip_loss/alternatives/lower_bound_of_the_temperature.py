"""The temperature itself, which is clamped after the exponential without harm: exp(−s) never overflows where s is large."""

import torch
from torch import nn


def clip_loss(image, text, logit_scale):
    if image.ndim != 2 or text.ndim != 2:
        raise ValueError("image and text should be matrices")
    if image.size() != text.size():
        raise ValueError("image and text should be alike")
    temperature = torch.exp(-logit_scale).clamp(min=0.01)
    image, text = (x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) for x in (image, text))
    similarity = torch.einsum("id,jd->ij", image, text) / temperature
    label, choose = torch.arange(image.size(0), device=image.device), nn.CrossEntropyLoss()
    return 0.5 * choose(similarity, label) + 0.5 * choose(similarity.T, label)
