"""Moves x itself, entry by entry, and puts the old value back: no copies at all."""

import numpy as np
import torch


def numerical_gradient(f, x, h=None):
    data = x.detach()  # shares the memory of x
    gradient = torch.zeros_like(data)
    for index in np.ndindex(*data.shape):
        old = data[index].item()
        step = h if h is not None else np.cbrt(torch.finfo(x.dtype).eps) * max(1.0, abs(old))
        data[index] = old + step
        above = f(data).item()
        data[index] = old - step
        below = f(data).item()
        data[index] = old
        gradient[index] = (above - below) / (2 * step)
    return gradient
