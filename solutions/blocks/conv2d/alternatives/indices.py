"""Tables say which row or column each position of each window meets; the pool takes one axis, then the other."""

import torch


def two(size):
    return [size, size] if isinstance(size, int) else [*size]


def met(x, axis, k, stride, padding, dilation):
    """(places, k), indices into the axis once it is padded."""
    last = x.shape[axis] + 2 * padding - dilation * (k - 1)
    if stride <= 0 or dilation <= 0 or padding < 0 or last < 1:
        raise ValueError("sizes out of range, or a kernel that does not fit")
    return torch.arange(0, last, stride, device=x.device)[:, None] + torch.arange(k, device=x.device) * dilation


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    assert x.shape[1] == weight.shape[1], "x and weight should have as many channels"
    assert bias is None or [*bias.shape] == [len(weight)], "one bias for each filter"
    sizes = zip((2, 3), weight.shape[2:], two(stride), two(padding), two(dilation), strict=True)
    rows, columns = (met(x, *one) for one in sizes)
    ph, pw = two(padding)
    x = torch.nn.ZeroPad2d((pw, pw, ph, ph))(x)[:, :, rows[:, :, None, None], columns]  # (B, C, oh, kh, ow, kw)
    x = x.permute(0, 2, 4, 1, 3, 5).flatten(3)  # (B, oh, ow, C * kh * kw)
    return torch.nn.functional.linear(x, weight.flatten(1), bias).permute(0, 3, 1, 2).contiguous()


def max_pool2d(x, kernel_size, stride=None, padding=0):
    stride = kernel_size if stride is None else stride
    for axis, k, s, p in zip((2, 3), two(kernel_size), two(stride), two(padding), strict=True):
        assert p <= k // 2, "too much padding"
        at = met(x, axis, k, s, p, 1) - p
        at = at.clamp(0, x.shape[axis] - 1)  # what is outside becomes its nearest, which the window has anyway
        x = x.index_select(axis, at.flatten()).unflatten(axis, at.shape).amax(axis + 1)
    return x
