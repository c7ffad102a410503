"""A 2 × 2 matrix for each token and pair."""

import torch


def rotary_embedding(x, positions=None, base=10000.0, interleaved=False):
    *tokens, d = x.shape
    if d % 2:
        raise ValueError("odd number of channels")
    if positions is None:
        positions = torch.arange(tokens[-1], device=x.device)
    if positions.ndim > len(tokens) or any(
        p not in (1, t) for p, t in zip(positions.shape[::-1], tokens[::-1], strict=False)
    ):
        raise ValueError("positions do not broadcast")
    i = torch.arange(d // 2, device=x.device).double()
    phi = positions[..., None] / torch.tensor(base, dtype=torch.float64) ** (2 * i / d)
    c, s = phi.cos(), phi.sin()
    turn = torch.stack((c, -s, s, c), dim=-1).unflatten(-1, (2, 2)).to(x.dtype)
    pairs = x.unflatten(-1, (d // 2, 2)) if interleaved else x.unflatten(-1, (2, d // 2)).transpose(-1, -2)
    out = torch.matmul(turn, pairs.unsqueeze(-1)).squeeze(-1)
    return (out if interleaved else out.transpose(-1, -2)).flatten(-2)
