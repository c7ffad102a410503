"""The normal numbers by Box and Muller, from a radius and an angle; sizes by numel."""

import math

import torch


def uniform(tensor, generator):
    return torch.rand(tensor.numel(), generator=generator, dtype=torch.float64).view(tensor.shape)


def normal(tensor, generator):
    radius = (-2 * torch.log1p(-uniform(tensor, generator))).sqrt()
    return radius * torch.cos(2 * math.pi * uniform(tensor, generator))


def put(tensor, values):
    with torch.no_grad():
        tensor[...] = values
    return tensor


def both_fans(tensor):
    return tensor.numel() / tensor.size(0) + tensor.numel() / tensor.size(1)


def xavier_uniform_(tensor, generator=None):
    return put(tensor, (uniform(tensor, generator) - 0.5) * math.sqrt(24 / both_fans(tensor)))


def xavier_normal_(tensor, generator=None):
    return put(tensor, normal(tensor, generator) * math.sqrt(2 / both_fans(tensor)))


def kaiming_uniform_(tensor, generator=None):
    return put(tensor, (uniform(tensor, generator) - 0.5) * math.sqrt(24 * tensor.size(0) / tensor.numel()))


def kaiming_normal_(tensor, generator=None):
    return put(tensor, normal(tensor, generator) * math.sqrt(2 * tensor.size(0) / tensor.numel()))
