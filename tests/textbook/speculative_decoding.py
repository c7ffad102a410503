import torch

def verify_draft(target_probs, draft_probs, draft_tokens, uniforms):
    B, K, V = draft_probs.shape
    p = target_probs[:, :K].gather(2, draft_tokens[:, :, None]).squeeze(2)
    q = draft_probs.gather(2, draft_tokens[:, :, None]).squeeze(2)
    accepted = uniforms[:, :K] < p / q
    n = accepted.long().cumprod(dim=1).sum(dim=1)
    tokens = torch.full((B, K + 1), -1)
    for b in range(B):
        i = n[b].item()
        tokens[b, :i] = draft_tokens[b, :i]
        if i < K:
            weights = torch.clamp(target_probs[b, i] - draft_probs[b, i], min=0)
        else:
            weights = target_probs[b, K]
        weights = weights / weights.sum()
        tokens[b, i] = torch.searchsorted(weights.cumsum(0), uniforms[b, K])
    return tokens, n + 1
