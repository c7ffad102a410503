"""As in Llama: cast back before the weight multiplies."""

import torch


def widened(tensor):
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)


def rms_norm(x, weight=None, eps=1e-6):
    assert weight is None or weight.shape == x.shape[-1:]
    hidden = widened(x)
    variance = hidden.pow(2).mean(-1, keepdim=True)
    hidden = (hidden * torch.rsqrt(variance + eps)).to(x.dtype)
    return hidden if weight is None else weight * hidden


def rms_norm_backward(grad_output, x, weight=None, eps=1e-6):
    assert weight is None or weight.shape == x.shape[-1:]
    assert grad_output.shape == x.shape
    g, hidden = widened(grad_output), widened(x)
    inverse = torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + eps)
    grad_weight = None
    if weight is not None:
        grad_weight = (g * hidden * inverse).reshape(-1, x.shape[-1]).sum(0).to(x.dtype)
        g = g * weight
    through_rms = hidden * inverse.pow(3) * (g * hidden).mean(-1, keepdim=True)
    return (g * inverse - through_rms).to(x.dtype), grad_weight
