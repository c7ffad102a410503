# honest: one apply for each strip of queries, from keys that were cast once; must pass
import torch


def check(q, k, v, causal, block_size):
    if block_size < 1:
        raise ValueError(f"block_size should be at least 1, got {block_size}")
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3]:
        raise ValueError(f"shapes disagree: {q.shape}, {k.shape}, {v.shape}")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("causal needs Sq <= Sk")


class FlashAttention(torch.autograd.Function):
    """One strip of queries."""

    @staticmethod
    def forward(ctx, q, k, v, first, causal):
        s = FlashAttention.scores(q, k, first, causal)
        lse = torch.logsumexp(s, dim=-1, keepdim=True)
        out = torch.exp(s - lse) @ v
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.first, ctx.causal = first, causal
        return out

    @staticmethod
    def scores(q, k, first, causal):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if causal:
            seen = torch.ones_like(s[0, 0], dtype=torch.bool).tril(first)
            s = s.masked_fill(~seen, -torch.inf)
        return s

    @staticmethod
    def backward(ctx, g):
        q, k, v, out, lse = ctx.saved_tensors
        p = torch.exp(FlashAttention.scores(q, k, ctx.first, ctx.causal) - lse)
        ds = p * (g @ v.mT - (g * out).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return ds @ k, ds.mT @ q, p.mT @ g, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    check(q, k, v, causal, block_size)
    wide = torch.promote_types(q.dtype, torch.float32)
    kw, vw = k.to(wide), v.to(wide)
    more = k.shape[2] - q.shape[2]
    strips = [
        FlashAttention.apply(strip.to(wide), kw, vw, i * block_size + more, causal)
        for i, strip in enumerate(q.split(block_size, 2))
    ]
    return torch.cat(strips, 2).to(q.dtype)
