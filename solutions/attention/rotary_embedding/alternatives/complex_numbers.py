"""A pair is a complex number, multiplied by e^(iφ)."""

import torch


def rotary_embedding(x, positions=None, base=10000.0, interleaved=False):
    d = x.shape[-1]
    assert d % 2 == 0, f"d should be even, got {d}"
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    try:
        positions.expand(x.shape[:-1])
    except RuntimeError as error:
        raise ValueError("positions should broadcast") from error
    theta = torch.logspace(0, 2 / d - 1, d // 2, base=base, dtype=torch.float64, device=x.device)
    angles = positions.unsqueeze(-1).double() * theta
    turn = torch.polar(torch.ones_like(angles), angles)
    if interleaved:
        pairs = torch.view_as_complex(x.double().contiguous().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)
    z = torch.complex(*x.double().chunk(2, dim=-1)) * turn
    return torch.cat((z.real, z.imag), dim=-1).type_as(x)
