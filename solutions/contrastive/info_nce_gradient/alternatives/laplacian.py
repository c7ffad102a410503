"""One symmetric matrix of weights, like the Laplacian of a graph: the projection is on its diagonal."""
import torch


def info_nce_grad(features, temperature=0.1):
    if features.dim() != 2:
        raise ValueError("dim")
    if features.size(0) % 2:
        raise ValueError("odd")
    if temperature <= 0:
        raise ValueError("tau")
    x = features.detach()
    wide = x.double() if x.element_size() == 2 else x
    norm = wide.norm(dim=1, keepdim=True).clamp_min(1e-12)
    unit = wide / norm
    sim = unit @ unit.T
    n = len(unit)
    logits = sim / temperature
    logits.diagonal().fill_(-torch.inf)
    p = logits.softmax(1)
    loss = (logits.logsumexp(1) - torch.cat([logits.diagonal(n // 2), logits.diagonal(-(n // 2))])).mean()
    w = p + p.T
    w.diagonal(n // 2).sub_(2)
    w.diagonal(-(n // 2)).sub_(2)
    laplacian = w - torch.diag((w * sim).sum(1))
    return loss.to(x.dtype), (laplacian @ unit / norm / temperature / n).to(x.dtype)
