"""The four N by N blocks of the similarities, one half of the rows after the other."""

import torch
from torch import Tensor


def _half(mine: Tensor, other: Tensor, temperature: float) -> Tensor:
    """The losses of the rows of `mine`, whose positives are the rows of `other`."""
    n = mine.shape[0]
    within = mine @ mine.mT / temperature
    across = mine @ other.mT / temperature
    within = within + torch.diag_embed(within.new_full((n,), float("-inf")))
    everything = torch.hstack([across, within])
    return -torch.log_softmax(everything, dim=1)[:, :n].diagonal()


def info_nce(features: Tensor, temperature: float = 0.1, *, eps: float = 0.0) -> Tensor:
    if features.dim() != 2:
        raise ValueError("not a matrix")
    count, odd = divmod(features.shape[0], 2)
    if odd or temperature <= 0:
        raise ValueError("odd number of rows, or a temperature that is not positive")
    unit = features / torch.clamp(torch.linalg.norm(features, dim=1, keepdim=True), min=eps)
    a, b = unit[:count], unit[count:]
    return torch.cat([_half(a, b, temperature), _half(b, a, temperature)]).mean()
