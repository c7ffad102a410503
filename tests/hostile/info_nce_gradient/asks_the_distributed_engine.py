# cheat: pulls gradients back by the engine of torch.distributed.autograd; must fail
import torch
import torch.nn.functional as F
from torch import Tensor


def loss_of(features, temperature):
    rows = len(features)
    unit = features / torch.linalg.vector_norm(features, dim=1, keepdim=True).expand_as(features)
    itself = torch.eye(rows, dtype=torch.bool)
    logits = (unit @ unit.mT / temperature).masked_fill(itself, -torch.inf)
    positive = torch.arange(rows).roll(rows // 2)
    return (logits.logsumexp(1) - (unit * unit.roll(rows // 2, 0)).sum(1) / temperature).mean()


def info_nce_grad(features: Tensor, temperature: float = 0.1) -> tuple[Tensor, Tensor]:
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("bad")
    with torch.enable_grad():
        x = features.detach().clone().requires_grad_()
        loss = loss_of(x, temperature)
        return loss.detach(), grad_of(loss, x)


import torch.distributed.autograd as da
da._init(0)


def grad_of(loss, x):
    with da.context() as c:
        da.backward(c, [loss])
        return da.get_gradients(c)[x]
