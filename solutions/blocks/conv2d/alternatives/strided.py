"""as_strided shows all windows of a padded copy; tensordot sums, and max runs over what is left of a window."""

import torch
import torch.nn.functional as F


def view_of_windows(x, *sizes, fill=0.0):
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = ((one, one) if isinstance(one, int) else one for one in sizes)
    if min(sh, sw, dh, dw) < 1 or min(ph, pw) < 0:
        raise ValueError("padding, stride or dilation is out of range")
    x = F.pad(x, (pw, pw, ph, ph), value=fill).contiguous()
    B, C, H, W = x.shape
    oh, ow = (H - dh * (kh - 1) - 1) // sh + 1, (W - dw * (kw - 1) - 1) // sw + 1
    if oh < 1 or ow < 1:
        raise ValueError("the kernel is too large")
    b, c, h, w = x.stride()
    return x.as_strided((B, C, oh, ow, kh, kw), (b, c, h * sh, w * sw, h * dh, w * dw))


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    if weight.shape[1] != x.shape[1] or (bias is not None and bias.shape != weight.shape[:1]):
        raise ValueError("weight is for other channels, or bias for other filters")
    seen = view_of_windows(x, weight.shape[2:], stride, padding, dilation)
    out = torch.tensordot(weight, seen, dims=([1, 2, 3], [1, 4, 5])).transpose(0, 1)  # (B, O, oh, ow)
    return out if bias is None else out + bias.view(1, -1, 1, 1)


def max_pool2d(x, kernel_size, stride=None, padding=0):
    if (2 * torch.tensor(padding) > torch.tensor(kernel_size)).any():
        raise ValueError("padding is above half of the kernel")
    stride = kernel_size if stride is None else stride
    return view_of_windows(x, kernel_size, stride, padding, 1, fill=torch.finfo(x.dtype).min).flatten(4).max(4)[0]
