"""E[d²] − E[d]² of the distances d from the middle between the extremes, which is near enough to the mean."""

import torch


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    shape = list(normalized_shape)
    first = x.ndim - len(shape)
    if shape == [] or first < 0 or list(x.shape)[first:] != shape:
        raise ValueError("normalized_shape")
    if any(own is not None and list(own.shape) != shape for own in (weight, bias)):
        raise ValueError("weight or bias")
    flat = x.flatten(first)
    low, high = torch.aminmax(flat.detach(), dim=-1, keepdim=True)
    d = flat - (low + (high - low) / 2)
    mean = d.mean(-1, keepdim=True)
    var = (d * d).mean(-1, keepdim=True) - mean * mean
    y = ((d - mean) * (var + eps).rsqrt()).reshape(x.shape)
    y = y if weight is None else weight * y
    return y if bias is None else bias + y
