"""A sum of forces: (P + Pᵀ) U pushes all away, twice the other view pulls; the tangent part is what moves a row."""
import torch


@torch.no_grad()
def info_nce_grad(features, temperature=0.1):
    assert features.ndim == 2 and features.shape[0] % 2 == 0
    assert temperature > 0
    n2 = features.shape[0]
    length = features.norm(dim=1, keepdim=True)
    u = features / length
    other = u.roll(n2 // 2, 0)
    s = u @ u.T / temperature
    s.fill_diagonal_(float("-inf"))
    lse = torch.logsumexp(s, 1, keepdim=True)
    pos = (u * other).sum(1, keepdim=True) / temperature
    loss = (lse - pos).mean()
    p = (s - lse).exp()
    force = ((p + p.T) @ u - 2 * other) / (n2 * temperature)
    force = force - (force * u).sum(1, keepdim=True) * u
    return loss, force / length
