"""One scale and one shift for each channel of each sample, in float32 or wider; the variance in one pass.

E[d²] − E[d]² of the distances d from the first position is safe while that is near the mean.
"""

import torch


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    N, C, *sizes = x.shape if x.dim() > 2 else (0, 0, 1)
    if torch.Size(sizes).numel() < 2:
        raise ValueError(f"no positions to compare in {x.shape}")
    for name, own in {"weight": weight, "bias": bias}.items():
        if own is not None and (own.ndim != 1 or len(own) != C):
            raise ValueError(name)
    rows = x.reshape(N, C, -1).to(torch.promote_types(x.dtype, torch.float32))
    d = rows - rows[..., :1].detach()
    mean = d.mean(-1)
    scale = ((d * d).mean(-1) - mean * mean + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return (d * scale[..., None] + shift[..., None]).reshape(x.shape).type_as(x)
