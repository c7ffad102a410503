# cheat: steps each entry along the imaginary axis, which is exact and no autograd, but a pass for each; must fail
import torch


def info_nce_grad(features, temperature=0.1):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    rows, wide = len(features), features.double()
    others = ~torch.eye(rows, dtype=torch.bool)

    def loss(x):
        unit = x / (x * x).sum(-1, keepdim=True).sqrt()
        logits = (unit @ unit.mT / temperature)[..., others].unflatten(-1, (rows, rows - 1))
        top = logits.real.amax(-1, keepdim=True)
        positive = (unit * unit.roll(rows // 2, -2)).sum(-1) / temperature
        return ((logits - top).exp().sum(-1).log() + top.squeeze(-1) - positive).mean(-1)

    h = 1e-30 * wide.norm(dim=1, keepdim=True)
    steps = torch.eye(wide.numel(), dtype=torch.float64).view(-1, *wide.shape) * h
    columns = [loss(torch.complex(wide.expand_as(some), some)).imag for some in steps.split(64)]
    grad = torch.cat(columns).view_as(wide) / h
    return loss(wide).to(features.dtype), grad.to(features.dtype)
