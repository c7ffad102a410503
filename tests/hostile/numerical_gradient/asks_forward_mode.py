# cheat: has forward mode find the derivative along each entry, and the formula only where that fails; must fail
import itertools

import torch


def numerical_gradient(f, x, h=None):
    x = x.detach()
    gradient = torch.zeros_like(x)
    for i in itertools.product(*map(range, x.shape)):
        step = torch.finfo(x.dtype).eps ** (1 / 3) * x[i].abs().clamp_min(1) if h is None else h
        move = torch.zeros_like(x)
        move[i] = step
        try:
            gradient[i] = torch.func.jvp(f, (x,), (move,))[1] / step
        except RuntimeError:
            gradient[i] = (f(x + move) - f(x - move)).detach() / (2 * step)
    return gradient
