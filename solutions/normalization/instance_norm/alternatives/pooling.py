"""Means are average pooling; weight and bias are a convolution of each channel with one number."""

import torch
import torch.nn.functional as F


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    if x.dim() < 3 or x[0, 0].numel() == 1:
        raise ValueError("x should have several positions")
    C = x.size(1)
    for own in (weight, bias):
        if own is not None and own.size() != (C,):
            raise ValueError("weight and bias should be (C,)")
    centred = x.flatten(2) - F.adaptive_avg_pool1d(x.flatten(2), 1)
    y = centred * torch.rsqrt(F.adaptive_avg_pool1d(centred.square(), 1) + eps)
    kernels = x.new_ones(C, 1, 1) if weight is None else weight.reshape(C, 1, 1)
    return F.conv1d(y, kernels, bias, groups=C).reshape(x.shape)
