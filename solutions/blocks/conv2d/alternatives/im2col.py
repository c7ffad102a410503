"""F.unfold makes the columns; for the pool, each channel is unfolded by itself."""

import torch.nn.functional as F


def pairs(*sizes):
    return [tuple(size) if isinstance(size, (tuple, list)) else (size, size) for size in sizes]


def places(n, k, s, p, d=1):
    assert s > 0 and d > 0 and p >= 0 and n + 2 * p > d * (k - 1), f"{n, k, s, p, d} mean nothing"
    return (n + 2 * p - d * (k - 1) - 1) // s + 1


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    stride, padding, dilation = pairs(stride, padding, dilation)
    O, C, *kernel = weight.shape
    oh, ow = map(places, x.shape[2:], kernel, stride, padding, dilation)
    assert x.shape[1] == C and (bias is None or tuple(bias.shape) == (O,)), "shapes disagree"
    out = weight.reshape(O, -1) @ F.unfold(x, kernel, dilation, padding, stride)  # (B, O, oh * ow)
    if bias is not None:
        out += bias[:, None]
    return out.view(-1, O, oh, ow)


def max_pool2d(x, kernel_size, stride=None, padding=0):
    kernel, stride, padding = pairs(kernel_size, kernel_size if stride is None else stride, padding)
    shape = (*x.shape[:2], *map(places, x.shape[2:], kernel, stride, padding))
    (ph, pw), (kh, kw) = padding, kernel
    assert ph <= kh // 2 and pw <= kw // 2, "too much padding"
    x = F.pad(x, (pw, pw, ph, ph), value=float("-inf")).flatten(0, 1)[:, None]
    return F.unfold(x, kernel, stride=stride).max(dim=1).values.view(shape)
