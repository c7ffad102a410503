"""Convolution and max pooling by hand. Statement: katas/blocks/conv2d/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor

Size = int | tuple[int, int] | list[int]  # both axes, or (height, width)


def pair(size: Size) -> tuple[int, ...]:
    return (size, size) if isinstance(size, int) else tuple(size)


def windows(x: Tensor, kernel: Size, stride: Size, padding: Size, dilation: Size = 1, fill: float = 0.0) -> Tensor:
    """What a kernel sees in each of its places, for both functions: (B, C, H, W) -> (B, C, oh, ow, kh, kw).

    Raises: ValueError if stride or dilation < 1, padding < 0, or the kernel does not fit into the padded x.
    """
    # TODO: surround x with `padding` rows and columns of `fill`. Which axis does F.pad take first?
    # TODO: how long is a dilated kernel? Cut windows of this length, `stride` apart, along one axis, then the other.
    # TODO: then make it robust: refuse sizes that mean nothing.
    raise NotImplementedError


def conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1, padding: Size = 0, dilation: Size = 1
) -> Tensor:
    """out[b, o, y, z] = bias[o] + Σ_{c, i, j} weight[o, c, i, j] · x[b, c, y·s + i·dil − p, z·s + j·dil − p]

    Args:
        x: (B, C, H, W); outside of it, there are zeros.
        weight: (O, C, kh, kw).
        bias: (O,).
        stride, padding, dilation: s, p and dil, an int or (height, width).
    Returns: (B, O, oh, ow) with oh = ⌊(H + 2p − dil·(kh − 1) − 1) / s⌋ + 1, and ow likewise.
    Raises: ValueError if the shapes disagree, or as `windows` does.
    """
    # TODO: refuse weights for other channels, and a bias of another shape.
    # TODO: sum windows times weights over channels and kernel, for all filters at once. Then add the bias.
    raise NotImplementedError


def max_pool2d(x: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> Tensor:
    """out[b, c, y, z] = max_{i, j} x[b, c, y·s + i − p, z·s + j − p], where (i, j) are the kernel's positions

    Args:
        x: (B, C, H, W); what is outside of it never wins.
        kernel_size, stride, padding: an int or (height, width). stride=None means the kernel's size.
    Returns: (B, C, oh, ow), sizes as in conv2d.
    Raises: ValueError if padding is above half of the kernel, or as `windows` does.
    """
    # TODO: the largest value of each window. What must surround x, so that it never wins?
    # TODO: then make it robust: refuse too much padding. What is a stride of 0?
    raise NotImplementedError
