"""As in Hugging Face's models: x · cos + (−b, a) · sin, with both tables as wide as x."""

import torch
from torch import nn


class Frequencies(nn.Module):
    def __init__(self, d, base):
        super().__init__()
        powers = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
        self.register_buffer("powers", powers, persistent=False)

    def forward(self, positions):
        return positions.double().unsqueeze(-1) * self.powers.to(positions.device)


def rotary_embedding(x, positions=None, base=10000.0, interleaved=False):
    d, tokens = x.shape[-1], x.shape[:-1]
    if d % 2 == 1:
        raise ValueError("d should be even")
    positions = torch.arange(tokens[-1], device=x.device) if positions is None else positions
    try:
        broadcast = torch.broadcast_shapes(positions.shape, tokens)
    except RuntimeError:
        broadcast = None
    if broadcast != tokens:
        raise ValueError("positions should broadcast to all axes of x but the last")
    angles = Frequencies(d, base)(positions)
    if interleaved:
        angles = angles.repeat_interleave(2, dim=-1)
        turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
    else:
        angles = torch.cat((angles, angles), dim=-1)
        turned = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), dim=-1)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)
