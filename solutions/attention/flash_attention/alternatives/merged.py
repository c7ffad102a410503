"""Blocks of keys merged by their log-sum-exps; the newer form of a Function."""
import math
import torch


def check(q, k, v, causal, block_size):
    if block_size < 1:
        raise ValueError(f"block_size should be at least 1, got {block_size}")
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3]:
        raise ValueError(f"shapes disagree: {q.shape}, {k.shape}, {v.shape}")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("causal needs Sq <= Sk")


def block(q, k, at, offset, causal):
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(3))
    if causal:
        i = torch.arange(q.size(2), device=q.device).view(-1, 1)
        j = torch.arange(k.size(2), device=q.device).view(1, -1) + at
        s = torch.where(j <= i + offset, s, -math.inf)
    return s


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(q, k, v, causal, size):
        q, k, v = (t.to(torch.promote_types(t.dtype, torch.float32)) for t in (q, k, v))
        out = lse = None
        at = 0
        for kb, vb in zip(k.split(size, 2), v.split(size, 2)):
            s = block(q, kb, at, k.size(2) - q.size(2), causal)
            one = torch.logsumexp(s, -1, keepdim=True)
            part = (s - one.nan_to_num(neginf=0.0)).exp() @ vb
            if out is None:
                out, lse = part, one
            else:
                both = torch.logaddexp(lse, one)
                out = out * (lse - both).exp() + part * (one - both).exp()
                lse = both
            at += kb.size(2)
        return out, lse

    @staticmethod
    def setup_context(ctx, inputs, output):
        q, k, v, ctx.causal, ctx.size = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(q, k, v, *output)

    @staticmethod
    def backward(ctx, g, _):
        q0, k0, v0, out, lse = ctx.saved_tensors
        wide = torch.promote_types(q0.dtype, torch.float32)
        q, k, v, g = (t.to(wide) for t in (q0, k0, v0, g))
        scale = 1 / math.sqrt(q.size(3))
        delta = (g * out).sum(3, keepdim=True)
        dq, dk, dv, at = 0, [], [], 0
        for kb, vb in zip(k.split(ctx.size, 2), v.split(ctx.size, 2)):
            p = torch.exp(block(q, kb, at, k.size(2) - q.size(2), ctx.causal) - lse)
            dv.append(torch.einsum("bhqk,bhqc->bhkc", p, g))
            ds = p * (torch.einsum("bhqc,bhkc->bhqk", g, vb) - delta) * scale
            dq = dq + torch.einsum("bhqk,bhkd->bhqd", ds, kb)
            dk.append(torch.einsum("bhqk,bhqd->bhkd", ds, q))
            at += kb.size(2)
        return dq.to(q0.dtype), torch.cat(dk, 2).to(k0.dtype), torch.cat(dv, 2).to(v0.dtype), None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    check(q, k, v, causal, block_size)
    return FlashAttention.apply(q, k, v, causal, block_size)[0].to(q.dtype)
