"""A loop over the kernel's positions, each of which meets a slice of x in all places at once."""

from functools import reduce

import torch


def slices(x, kernel, stride, padding, dilation, fill):
    sizes = [[one] * 2 if isinstance(one, int) else [*one] for one in (kernel, stride, padding, dilation)]
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = sizes
    H, W = x.shape[-2:]
    if min(sh, sw, dh, dw) <= 0 or min(ph, pw) < 0 or H + 2 * ph <= dh * (kh - 1) or W + 2 * pw <= dw * (kw - 1):
        raise ValueError("sizes that mean nothing, or a kernel that is too wide")
    padded = x.new_full((*x.shape[:-2], H + 2 * ph, W + 2 * pw), fill)
    padded[..., ph : ph + H, pw : pw + W] = x
    oh, ow = (H + 2 * ph - dh * (kh - 1) - 1) // sh + 1, (W + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    return [padded[..., i * dh :: sh, j * dw :: sw][..., :oh, :ow] for i in range(kh) for j in range(kw)]


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    if x.size(1) != weight.size(1) or (bias is not None and tuple(bias.shape) != (weight.size(0),)):
        raise ValueError("shapes disagree")
    out = 0 if bias is None else bias
    parts = slices(x, weight.shape[2:], stride, padding, dilation, 0.0)
    for part, one in zip(parts, weight.flatten(2).unbind(2), strict=True):
        out = out + part.movedim(1, -1) @ one.T
    return out.movedim(-1, 1)


def max_pool2d(x, kernel_size, stride=None, padding=0):
    parts = slices(x, kernel_size, kernel_size if stride is None else stride, padding, 1, -torch.inf)
    if torch.any(2 * torch.as_tensor(padding) > torch.as_tensor(kernel_size)):
        raise ValueError("padding should be at most half of the kernel")
    return reduce(torch.maximum, parts).clone()
