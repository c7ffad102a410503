"""Rotary position embedding by hand. Statement: katas/attention/rotary_embedding/README.md."""

import torch
from torch import Tensor


def rotary_embedding(
    x: Tensor, positions: Tensor | None = None, base: float = 10000.0, interleaved: bool = False
) -> Tensor:
    """(a, b) → (a cos φ − b sin φ, a sin φ + b cos φ) for pair i of the channels, with φ = position · base^(−2i/d)

    Args:
        x: (…, S, d), S tokens of d channels.
        positions: of the tokens, integers that broadcast to (…, S); None: 0 … S − 1.
        base: of the frequencies, above 1.
        interleaved: pair i is the channels 2i and 2i + 1; if False, i and i + d/2.
    Returns: the shape and dtype of x.
    Raises: ValueError if d is odd, or if positions do not broadcast to (…, S).
    Source: arXiv:2104.09864, eq. 34, which is interleaved.
    """
    # --- solution
    # TODO: refuse an odd d, and positions that do not broadcast to all axes of x but the last.
    # TODO: one frequency for each pair, then the angle of each token and pair. Which dtype do they need?
    # TODO: split the channels into pairs (a, b), and rotate each.
    # TODO: put the channels back where they were.
    *tokens, d = x.shape
    if d % 2:
        raise ValueError(f"x should have an even number of channels, got {d}")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    fits = zip(reversed(positions.shape), reversed(tokens), strict=False)
    if positions.dim() > len(tokens) or any(size not in (1, wanted) for size, wanted in fits):
        raise ValueError(f"positions should broadcast to all axes of x but the last, got {tuple(positions.shape)}")
    theta = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)  # (d/2,)
    angles = positions[..., None] * theta  # (…, d/2), in float64 whatever x is
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)  # each (…, S, d/2)
    rotated = a * cos - b * sin, a * sin + b * cos
    return torch.stack(rotated, -1).flatten(-2) if interleaved else torch.cat(rotated, -1)  # (…, S, d)
    # --- end
