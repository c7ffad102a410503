"""Numbers the entries and picks one at a time with where; nothing is indexed or written."""

import torch


def numerical_gradient(f, x, h=None):
    x = x.detach()
    number = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    step = torch.full_like(x, h) if h is not None else x.abs().clamp(min=1.0) * torch.finfo(x.dtype).eps ** (1 / 3)
    ahead, behind = x + step, x - step
    gradient = torch.zeros_like(x)
    with torch.no_grad():
        for i in range(x.numel()):
            here = number == i
            rise = f(torch.where(here, ahead, x)) - f(torch.where(here, behind, x))
            gradient = torch.where(here, rise / (2 * step), gradient)
    return gradient
