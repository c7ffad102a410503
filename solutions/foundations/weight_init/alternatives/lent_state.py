"""Draws from the global generator alone, to which a given one lends its state; scales through .data, in place."""

import torch


def _fill(tensor, method, scale, generator):
    assert tensor.dim() >= 2
    if generator is None:
        getattr(tensor.data, method)(*((-1, 1) if method == "uniform_" else (0, 1))).mul_(scale)
    else:
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(generator.get_state())
            _fill(tensor, method, scale, None)
            generator.set_state(torch.get_rng_state())
    return tensor


def _fans(tensor):
    out, inn, *kernel = tensor.shape
    for side in kernel:
        out, inn = out * side, inn * side
    return inn, out


def xavier_uniform_(tensor, generator=None):
    return _fill(tensor, "uniform_", (6 / sum(_fans(tensor))) ** 0.5, generator)


def xavier_normal_(tensor, generator=None):
    return _fill(tensor, "normal_", (2 / sum(_fans(tensor))) ** 0.5, generator)


def kaiming_uniform_(tensor, generator=None):
    return _fill(tensor, "uniform_", (6 / _fans(tensor)[0]) ** 0.5, generator)


def kaiming_normal_(tensor, generator=None):
    return _fill(tensor, "normal_", (2 / _fans(tensor)[0]) ** 0.5, generator)
