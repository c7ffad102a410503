"""Divides by the distance that the two points really have in the dtype, with 1 + |x| in place of the maximum."""

import torch


class CentralDifference:
    def __init__(self, f, x, h):
        self.f, self.shape = f, x.shape
        self.point = x.detach().clone(memory_format=torch.contiguous_format).view(-1)
        self.scale = None if h is not None else torch.finfo(x.dtype).eps ** (1 / 3)
        self.h = h

    def _at(self, i, value):
        self.point[i] = value
        return float(self.f(self.point.view(self.shape))), self.point[i].item()

    def entry(self, i):
        old = self.point[i].item()
        step = self.h if self.scale is None else self.scale * (1 + abs(old))
        (top, right), (bottom, left) = self._at(i, old + step), self._at(i, old - step)
        self.point[i] = old
        return (top - bottom) / (right - left)


@torch.no_grad()
def numerical_gradient(f, x, h=None):
    difference = CentralDifference(f, x, h)
    return x.new_tensor([difference.entry(i) for i in range(x.numel())]).reshape(x.shape)
