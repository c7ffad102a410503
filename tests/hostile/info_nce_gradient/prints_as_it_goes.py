# honest: prints tensors, parameters and a module on its way, and has a helper scripted; must pass
import torch
import torch.nn.functional as F
from torch import Tensor


half = torch.nn.Linear(2, 1)


def twice(x: Tensor) -> Tensor:
    return x * 2


def info_nce_grad(features: Tensor, temperature: float = 0.1) -> tuple[Tensor, Tensor]:
    if features.dim() != 2:
        raise ValueError(f"features should be (2N, D), got {tuple(features.shape)}")
    rows = len(features)  # 2N
    if rows % 2:
        raise ValueError(f"features should have an even number of rows, got {rows}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    print(features, f"{features!r} at {temperature}", sep="\n")
    norm = torch.linalg.vector_norm(features, dim=1, keepdim=True)  # (2N, 1)
    unit = features / norm
    itself = torch.eye(rows, dtype=torch.bool, device=features.device)
    logits = (unit @ unit.mT / temperature).masked_fill(itself, -torch.inf)  # (2N, 2N)
    positive = torch.arange(rows, device=features.device).roll(rows // 2)  # (2N,)
    loss = F.cross_entropy(logits, positive)
    print(logits, positive, f"{loss:.4f}", loss, features.grad_fn, [*half.parameters()], half)
    assert torch.jit.script(twice)(loss) == 2 * loss, f"{loss} doubled"

    d_logits = (logits.softmax(1) - F.one_hot(positive, rows)) / rows  # (2N, 2N)
    d_cosines = d_logits / temperature
    d_unit = d_cosines @ unit + d_cosines.mT @ unit  # (2N, D): each row as an anchor, and as a candidate
    radial = (d_unit * unit).sum(1, keepdim=True) * unit  # what would only change the length of the row
    return loss, (d_unit - radial) / norm
