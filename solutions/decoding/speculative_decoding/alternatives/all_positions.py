"""A replacement drawn at every position, then chosen by where."""
import torch

def verify_draft(target_probs, draft_probs, draft_tokens, uniforms):
    if target_probs.dim() != 3 or draft_probs.dim() != 3:
        raise ValueError("dims")
    B, K1, V = target_probs.size()
    K = K1 - 1
    if draft_probs.size() != (B, K, V) or draft_tokens.size() != (B, K) or uniforms.size() != (B, K1):
        raise ValueError("sizes")
    draft_tokens = draft_tokens.long()
    onehot = torch.nn.functional.one_hot(draft_tokens, V).bool()
    p = target_probs[:, :-1].masked_select(onehot).view(B, K)
    q = draft_probs.masked_select(onehot).view(B, K)
    accept = (uniforms[:, :-1] * q).lt(p)
    alive = torch.cat([torch.ones(B, 1, dtype=torch.bool, device=p.device), accept], 1).cummin(1).values
    weights = target_probs.clone()
    weights[:, :-1] -= draft_probs
    weights.clamp_(min=0)
    cum = weights.cumsum(2)
    edge = uniforms[:, -1].view(B, 1, 1) * cum[:, :, -1:]
    fresh = (cum <= edge).sum(2).clamp(max=V - 1)
    kept = torch.cat([alive[:, 1:], torch.zeros(B, 1, dtype=torch.bool, device=p.device)], 1)
    drafts = torch.cat([draft_tokens, torch.zeros_like(draft_tokens[:, :1])], 1)
    tokens = torch.where(kept, drafts, torch.where(alive, fresh, -1))
    return tokens, alive.sum(1)
