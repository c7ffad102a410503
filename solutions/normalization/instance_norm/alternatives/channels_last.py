"""The channels go to the end, where weight and bias broadcast by themselves."""

import torch


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    if x.ndim <= 2 or all(size == 1 for size in x.shape[2:]):
        raise ValueError("x")
    if any(own is not None and list(own.shape) != [x.shape[1]] for own in (weight, bias)):
        raise ValueError("weight or bias")
    z = torch.movedim(x, 1, -1)
    std, mean = torch.std_mean(z, list(range(1, z.ndim - 1)), correction=0, keepdim=True)
    z = (z - mean) / torch.hypot(std, torch.full_like(std, eps**0.5))
    z = z if weight is None else weight * z
    return torch.movedim(z if bias is None else bias + z, -1, 1)
