# cheat: FlashAttention is applied, and its result used only for its shape, while autograd does the work; must fail
import torch


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        return q.new_zeros(*q.shape[:3], v.shape[3])

    @staticmethod
    def backward(ctx, grad):
        return None, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    if block_size < 1 or q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3]:
        raise ValueError("shapes or block_size")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("causal")
    shown = FlashAttention.apply(q, k, v)
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT / q.shape[3] ** 0.5
    if causal:
        seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril(k.shape[2] - q.shape[2])
        scores = scores.masked_fill(~seen, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    out = weights / weights.sum(-1, keepdim=True) @ v.to(wide)
    return out.view_as(shown).to(q.dtype)
