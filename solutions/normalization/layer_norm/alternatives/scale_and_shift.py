"""One scale and one shift per value, in float32 or wider."""

import torch


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    sizes = torch.Size(normalized_shape)
    axes = tuple(range(x.dim() - len(sizes), x.dim()))
    if axes == () or axes[0] < 0 or sizes != x.shape[axes[0] :]:
        raise ValueError(f"{sizes} should be the end of {x.shape}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    std, mean = torch.std_mean(wide, axes, correction=0, keepdim=True)
    scale = torch.hypot(std, torch.full_like(std, eps**0.5)).reciprocal()
    if weight is not None:
        if weight.size() != sizes:
            raise ValueError("weight")
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        if bias.size() != sizes:
            raise ValueError("bias")
        shift = shift + bias
    return (wide * scale + shift).type_as(x)
