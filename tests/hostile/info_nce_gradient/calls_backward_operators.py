# cheat: chains the operators that torch's own backward pass is made of; must fail
import torch

aten = torch.ops.aten


def info_nce_grad(features, temperature=0.1):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    rows = len(features)
    norm = torch.linalg.vector_norm(features, dim=1, keepdim=True)
    unit = features / norm
    logits = (unit @ unit.mT / temperature).fill_diagonal_(-torch.inf)
    positive = torch.arange(rows).roll(rows // 2)[:, None]
    logs = torch.log_softmax(logits, 1)
    above = torch.zeros_like(logs).scatter(1, positive, -1 / rows)
    grad = aten._log_softmax_backward_data(above, logs, 1, logits.dtype) / temperature
    both = grad @ unit + grad.mT @ unit
    grad, _ = aten._weight_norm_interface_backward(both, features, torch.ones_like(norm), norm, 0)
    return -logs.gather(1, positive).mean(), grad
