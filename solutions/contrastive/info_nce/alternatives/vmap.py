"""The loss of one row, mapped over the rows; the temperature goes into the unit vectors as its square root."""

import torch
from torch.func import vmap


def info_nce(features, temperature=0.1):
    if features.dim() != 2 or features.size(0) & 1:
        raise ValueError("features should be (2N, D)")
    if temperature <= 0:
        raise ValueError("temperature should be above 0")
    rows = features.size(0)
    z = features * (features / features.abs().amax(1, keepdim=True)).square().sum(1, keepdim=True).rsqrt()
    z = z / features.abs().amax(1, keepdim=True) / temperature**0.5
    index = torch.arange(rows, device=features.device)

    def one(row, i):
        logits = torch.mv(z, row)
        logits = logits.masked_fill(index == i, -torch.inf)
        top = logits.amax()
        chosen = torch.where(index == (i + rows // 2) % rows, logits, 0.0).sum()
        return (logits - top).exp().sum().log() + top - chosen

    return vmap(one)(z, index).mean()
