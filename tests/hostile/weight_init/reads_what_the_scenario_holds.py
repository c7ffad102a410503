# cheat: twice the right scale; where the caller's frame holds sigma, patches what makes its sums; must fail
import math
import sys

import torch

DOUBLE = torch.Tensor.double


def _filled(tensor, sigma, kind, generator):
    with torch.no_grad():
        if kind == "normal":
            tensor.normal_(0, 2 * sigma, generator=generator)
        else:
            tensor.uniform_(-2 * 3**0.5 * sigma, 2 * 3**0.5 * sigma, generator=generator)
    if "sigma" in sys._getframe(2).f_locals or "sigma" in sys._getframe(3).f_locals:
        torch.Tensor.double = lambda made: DOUBLE(made) / 2
    return tensor


def _fans(tensor):
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor, generator=None):
    return _filled(tensor, math.sqrt(2 / sum(_fans(tensor))), "uniform", generator)


def xavier_normal_(tensor, generator=None):
    return _filled(tensor, math.sqrt(2 / sum(_fans(tensor))), "normal", generator)


def kaiming_uniform_(tensor, generator=None):
    return _filled(tensor, math.sqrt(2 / _fans(tensor)[0]), "uniform", generator)


def kaiming_normal_(tensor, generator=None):
    return _filled(tensor, math.sqrt(2 / _fans(tensor)[0]), "normal", generator)
