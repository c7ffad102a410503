import torch


def check(q, k, v, causal, block_size):
    if block_size < 1:
        raise ValueError(f"block_size should be at least 1, got {block_size}")
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3]:
        raise ValueError(f"shapes disagree: {q.shape}, {k.shape}, {v.shape}")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("causal needs Sq <= Sk")


def strip_scores(q, k, start, stop, causal):
    s = (q[:, :, start:stop] * q.shape[-1] ** -0.5) @ k.mT
    if causal:
        Sq, Sk = q.shape[2], k.shape[2]
        hidden = torch.ones(stop - start, Sk, dtype=torch.bool, device=q.device).triu(start + Sk - Sq + 1)
        s.masked_fill_(hidden, float("-inf"))
    return s


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, block_size):
        S = q.shape[2]
        out = q.new_empty(*q.shape[:3], v.shape[3])
        lse = q.new_empty(*q.shape[:3], 1)
        for start in range(0, S, block_size):
            stop = min(S, start + block_size)
            s = strip_scores(q, k, start, stop, causal)
            lse[:, :, start:stop] = s.logsumexp(-1, keepdim=True)
            out[:, :, start:stop] = s.softmax(-1) @ v
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal = causal
        ctx.block_size = block_size
        return out

    @staticmethod
    def backward(ctx, g):
        q, k, v, out, lse = ctx.saved_tensors
        S = q.shape[2]
        dq = torch.empty_like(q)
        dk = torch.zeros_like(k)
        dv = torch.zeros_like(v)
        for start in range(0, S, ctx.block_size):
            stop = min(S, start + ctx.block_size)
            p = (strip_scores(q, k, start, stop, ctx.causal) - lse[:, :, start:stop]).exp_()
            go = g[:, :, start:stop]
            dv += p.mT @ go
            ds = go @ v.mT
            ds -= (go * out[:, :, start:stop]).sum(-1, keepdim=True)
            ds *= p
            ds *= q.shape[-1] ** -0.5
            dq[:, :, start:stop] = ds @ k
            dk += ds.mT @ q[:, :, start:stop]
        return dq, dk, dv, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    check(q, k, v, causal, block_size)
    half = q.dtype in (torch.half, torch.bfloat16)
    out = FlashAttention.apply(*((x.float() if half else x) for x in (q, k, v)), causal, block_size)
    return out.to(q.dtype) if half else out
