"""The first rejection by argmax; searchsorted, clamped to the last token of positive weight."""
import torch
import torch.nn.functional as F

def verify_draft(target_probs, draft_probs, draft_tokens, uniforms):
    shapes = [tuple(x.shape) for x in (target_probs, draft_probs, draft_tokens, uniforms)]
    if len(shapes[1]) != 3:
        raise ValueError(shapes)
    B, K, V = shapes[1]
    if shapes != [(B, K + 1, V), (B, K, V), (B, K), (B, K + 1)]:
        raise ValueError(f"shapes disagree: {shapes}")
    t = draft_tokens.to(torch.int64)[:, :, None]
    ratio = target_probs[:, :K].gather(2, t) / draft_probs.gather(2, t)
    rejected = uniforms[:, :K, None] >= ratio
    rejected = torch.cat([rejected[..., 0], torch.ones_like(rejected[:, :1, 0])], dim=1)
    first = rejected.to(torch.uint8).argmax(dim=1)
    b = torch.arange(B, device=t.device)
    q = torch.cat([draft_probs, torch.zeros_like(draft_probs[:, :1])], dim=1)[b, first]
    w = F.relu(target_probs[b, first] - q)
    w = w / w.sum(-1, keepdim=True)
    cdf = w.double().cumsum(-1)
    picked = torch.searchsorted(cdf, uniforms[:, K:].double().contiguous(), right=True).squeeze(1)
    last = V - 1 - (w > 0).flip(-1).to(torch.uint8).argmax(-1)
    picked = torch.minimum(picked, last)
    tokens = torch.cat([t[..., 0], t.new_zeros(B, 1)], 1)
    tokens[b, first] = picked
    tokens[torch.arange(K + 1, device=t.device) > first[:, None]] = -1
    return tokens, first + 1
