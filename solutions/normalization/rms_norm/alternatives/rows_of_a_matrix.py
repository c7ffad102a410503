"""All leading axes as one; the backward pass without autograd's graph, in place."""

import torch


def rows(x):
    flat = x.reshape(-1, x.shape[-1])
    return flat if flat.dtype in (torch.float32, torch.float64) else flat.float()


def refuse(wrong, what):
    if wrong:
        raise ValueError(what)


def rms_norm(x, weight=None, eps=1e-6):
    D = x.size(-1)
    refuse(weight is not None and (weight.dim() != 1 or len(weight) != D), "weight")
    flat = rows(x)
    length = torch.linalg.vector_norm(flat, dim=1, keepdim=True)
    out = flat / (length**2 / D + eps).sqrt()
    if weight is not None:
        out = out * weight
    return out.view(x.shape).to(x.dtype)


@torch.no_grad()
def rms_norm_backward(grad_output, x, weight=None, eps=1e-6):
    D = x.size(-1)
    refuse(weight is not None and (weight.dim() != 1 or len(weight) != D), "weight")
    refuse(grad_output.size() != x.size(), "grad_output")
    flat, g = rows(x), rows(grad_output)
    inverse = ((flat * flat).sum(1, keepdim=True) / D + eps).rsqrt()
    n = flat * inverse
    grad_weight = None if weight is None else (g * n).sum(0).to(x.dtype)
    s = g.clone() if weight is None else g * weight
    s.sub_(n.mul_((s * n).mean(1, keepdim=True))).mul_(inverse)
    return s.view(x.shape).to(x.dtype), grad_weight
