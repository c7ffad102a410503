"""min(1, p/q), a normalised residual by maximum, and the draw by counting."""
import torch

@torch.no_grad()
def verify_draft(target_probs, draft_probs, draft_tokens, uniforms):
    if target_probs.dim() != 3 or draft_probs.shape != target_probs[:, :-1].shape:
        raise ValueError("probs")
    if draft_tokens.shape != draft_probs.shape[:2] or uniforms.shape != target_probs.shape[:2]:
        raise ValueError("tokens or uniforms")
    B, K, V = draft_probs.shape
    b, k = torch.meshgrid(torch.arange(B), torch.arange(K), indexing="ij")
    t = draft_tokens.long()
    accept = uniforms[:, :K] < torch.minimum(target_probs[b, k, t] / draft_probs[b, k, t], torch.ones(()))
    steps = torch.arange(1, K + 1)
    n = torch.where(accept, K, steps - 1).amin(1)
    empty = torch.zeros(B, 1, V, dtype=draft_probs.dtype)
    rest = torch.maximum(target_probs - torch.cat([draft_probs, empty], 1), torch.zeros((), dtype=draft_probs.dtype))
    rest = rest[torch.arange(B), n]
    share = rest / rest.sum(1, keepdim=True)
    cdf = share.cumsum(1)
    cdf = cdf / cdf[:, -1:]
    drawn = (cdf <= uniforms[:, K:]).sum(1)
    column = torch.arange(K + 1)
    tokens = torch.nn.functional.pad(t, (0, 1))
    tokens = torch.where(column == n[:, None], drawn[:, None], tokens)
    return torch.where(column <= n[:, None], tokens, -1), n + 1
