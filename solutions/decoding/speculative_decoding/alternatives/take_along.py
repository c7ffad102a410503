"""take_along_dim, logical_and by cumsum of rejections, scatter."""
import torch
from torch import Tensor

def draw(weights: Tensor, u: Tensor) -> Tensor:
    total = weights.cumsum(-1)
    above = total > (u * total[..., -1]).unsqueeze(-1)
    V = weights.shape[-1]
    index = torch.where(above, torch.arange(V, device=u.device), V)
    return index.amin(-1)

def verify_draft(target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor, uniforms: Tensor):
    if not (target_probs.ndim == 3 and draft_probs.ndim == 3 and draft_tokens.ndim == 2 and uniforms.ndim == 2):
        raise ValueError("ndim")
    B, K, V = draft_probs.shape
    if list(target_probs.shape) != [B, K + 1, V]:
        raise ValueError("target_probs")
    if list(draft_tokens.shape) != [B, K] or list(uniforms.shape) != [B, K + 1]:
        raise ValueError("draft_tokens or uniforms")
    t = draft_tokens.type(torch.long)
    p = torch.take_along_dim(target_probs[:, :-1], t[..., None], 2)[..., 0]
    q = torch.take_along_dim(draft_probs, t[..., None], 2)[..., 0]
    no = ~(uniforms[:, :-1] * q < p)
    accepted = (no.cumsum(1) == 0)
    n = accepted.sum(1, keepdim=True)
    chosen = torch.take_along_dim(target_probs, n[..., None], 1)[:, 0]
    against = torch.take_along_dim(draft_probs, n.clamp(max=K - 1)[..., None], 1)[:, 0]
    weights = torch.where(n < K, (chosen - against).relu(), chosen)
    new = draw(weights, uniforms[:, -1])
    tokens = torch.cat([t.masked_fill(~accepted, -1), torch.full_like(n, -1)], 1).scatter(1, n, new[:, None])
    return tokens, n[:, 0] + 1
