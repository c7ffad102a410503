"""The normal numbers by Box and Muller, from a radius and an angle; sizes by numel."""

import math
from functools import partial

import torch


def fill(tensor, generator=None, *, normal, kaiming):
    u, v = torch.rand(2, *tensor.shape, generator=generator, dtype=torch.float64, device=tensor.device)
    bell = (-2 * torch.log1p(-u)).sqrt() * torch.cos(2 * math.pi * v)
    values = bell if normal else (u - 0.5) * math.sqrt(12)
    fan_in, fan_out = tensor.numel() / tensor.size(0), tensor.numel() / tensor.size(1)
    with torch.no_grad():
        tensor[...] = values / math.sqrt(fan_in / 2 if kaiming else (fan_in + fan_out) / 2)
    return tensor


xavier_uniform_ = partial(fill, normal=False, kaiming=False)
xavier_normal_ = partial(fill, normal=True, kaiming=False)
kaiming_uniform_ = partial(fill, normal=False, kaiming=True)
kaiming_normal_ = partial(fill, normal=True, kaiming=True)
