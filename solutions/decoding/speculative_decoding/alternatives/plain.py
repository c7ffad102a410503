"""The weights of all positions, and an argmax of what exceeds."""
import torch

def verify_draft(target_probs, draft_probs, draft_tokens, uniforms):
    if draft_probs.dim() != 3:
        raise ValueError("draft_probs")
    B, K, V = draft_probs.shape
    if target_probs.shape != (B, K + 1, V) or draft_tokens.shape != (B, K) or uniforms.shape != (B, K + 1):
        raise ValueError("shapes")
    idx = draft_tokens.long()
    p = target_probs[:, :K].gather(-1, idx.unsqueeze(-1)).squeeze(-1)
    q = draft_probs.gather(-1, idx.unsqueeze(-1)).squeeze(-1)
    ok = uniforms[:, :K] * q < p
    n = ok.int().cumprod(1).sum(1)
    residual = torch.cat([(target_probs[:, :K] - draft_probs).clamp(min=0), target_probs[:, K:]], 1)
    w = residual.gather(1, n.long()[:, None, None].expand(B, 1, V)).squeeze(1)
    c = w.cumsum(-1)
    u = uniforms[:, K:] * c[:, -1:]
    new = (c > u).int().argmax(-1)
    out = torch.full((B, K + 1), -1, dtype=torch.int64, device=idx.device)
    pos = torch.arange(K, device=idx.device)
    out[:, :K] = torch.where(pos < n[:, None], idx, -1)
    out[torch.arange(B), n.long()] = new
    return out, n.long() + 1
