import torch
import torch.nn.functional as F


def pair(v):
    return (v, v) if isinstance(v, int) else v


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    (sh, sw), (ph, pw), (dh, dw) = pair(stride), pair(padding), pair(dilation)
    B, C, H, W = x.shape
    O, _, kh, kw = weight.shape
    oh = (H + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    ow = (W + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    cols = F.unfold(x, (kh, kw), dilation=(dh, dw), padding=(ph, pw), stride=(sh, sw))
    out = weight.view(O, -1) @ cols
    if bias is not None:
        out += bias.view(-1, 1)
    return out.view(B, O, oh, ow)


def max_pool2d(x, kernel_size, stride=None, padding=0):
    kh, kw = pair(kernel_size)
    sh, sw = pair(stride) if stride is not None else (kh, kw)
    ph, pw = pair(padding)
    B, C, H, W = x.shape
    x = F.pad(x, (pw, pw, ph, ph), value=float("-inf"))
    oh = (H + 2 * ph - kh) // sh + 1
    ow = (W + 2 * pw - kw) // sw + 1
    cols = F.unfold(x, (kh, kw), stride=(sh, sw)).view(B, C, kh * kw, oh, ow)
    return cols.max(dim=2).values
