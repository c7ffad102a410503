# broken: positions are float32, which cannot hold those beyond 2²⁴; must fail
import torch
from torch import Tensor


def rotary_embedding(
    x: Tensor, positions: Tensor | None = None, base: float = 10000.0, interleaved: bool = False
) -> Tensor:
    d = x.shape[-1]
    S = x.shape[-2]
    if d % 2 != 0:
        raise ValueError("d should be even")
    if positions is None:
        positions = torch.arange(S, device=x.device)
    try:
        positions = positions.expand(x.shape[:-1])
    except RuntimeError:
        raise ValueError("positions should broadcast to x") from None
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angles = positions.float()[..., None] * inv_freq
    cos, sin = angles.cos(), angles.sin()
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x[..., : d // 2], x[..., d // 2 :]
    ra = a * cos - b * sin
    rb = a * sin + b * cos
    if interleaved:
        out = torch.stack([ra, rb], dim=-1).flatten(-2)
    else:
        out = torch.cat([ra, rb], dim=-1)
    return out.to(x.dtype)
