"""A row with √(D ε) after its last entry has length √D · rms."""

import torch


def divided(x, eps):
    D = x.shape[-1]
    wide = x.float() if x.dtype.itemsize == 2 else x
    longer = torch.cat([wide, wide.new_full((*x.shape[:-1], 1), (D * eps) ** 0.5)], dim=-1)
    rms = (longer * longer).sum(-1, keepdim=True).sqrt() / D**0.5
    return wide / rms, rms


def rms_norm(x, weight=None, eps=1e-6):
    if weight is not None and weight.shape != torch.Size([x.shape[-1]]):
        raise ValueError("weight")
    n, _ = divided(x, eps)
    return (n if weight is None else torch.mul(n, weight)).type(x.dtype)


def rms_norm_backward(grad_output, x, weight=None, eps=1e-6):
    if weight is not None and weight.shape != torch.Size([x.shape[-1]]):
        raise ValueError("weight")
    if grad_output.shape != x.shape:
        raise ValueError("grad_output")
    n, rms = divided(x, eps)
    g = grad_output.to(n.dtype)
    s = g if weight is None else g * weight
    along = torch.linalg.vecdot(s, n).unsqueeze(-1) / x.shape[-1]
    grad_x = torch.addcmul(s, n, along, value=-1) / rms
    grad_weight = None if weight is None else (g * n).sum_to_size(weight.shape)
    return grad_x.type(x.dtype), grad_weight if weight is None else grad_weight.type(x.dtype)
