"""Sums of products by einsum, all of them in float64."""

import torch


def checked(weight, D):
    if weight is not None and list(weight.shape) != [D]:
        raise ValueError("weight")


def rms_norm(x, weight=None, eps=1e-6):
    D = x.shape[-1]
    checked(weight, D)
    wide = x.double()
    scale = (torch.einsum("...d,...d->...", wide, wide) / D + eps) ** -0.5
    if weight is None:
        return torch.einsum("...d,...->...d", wide, scale).to(x.dtype)
    return torch.einsum("...d,...,d->...d", wide, scale, weight.double()).to(x.dtype)


def rms_norm_backward(grad_output, x, weight=None, eps=1e-6):
    D = x.shape[-1]
    checked(weight, D)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output")
    wide, g = x.double(), grad_output.double()
    scale = (torch.einsum("...d,...d->...", wide, wide) / D + eps) ** -0.5
    by_n = g if weight is None else g * weight.double()
    back = torch.einsum("...d,...d->...", by_n, wide) * scale**3 / D
    grad_x = scale[..., None] * by_n - back[..., None] * wide
    grad_weight = None if weight is None else torch.einsum("...d,...d,...->d", g, wide, scale).to(x.dtype)
    return grad_x.to(x.dtype), grad_weight
