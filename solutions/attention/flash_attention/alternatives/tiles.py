import math
import torch


def check(q, k, v, causal, block_size):
    if block_size < 1:
        raise ValueError(f"block_size should be at least 1, got {block_size}")
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3]:
        raise ValueError(f"shapes disagree: {q.shape}, {k.shape}, {v.shape}")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("causal needs Sq <= Sk")


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, block_size):
        B, H, Sq, d = q.shape
        Sk = k.shape[2]
        scale = 1 / math.sqrt(d)
        outs, lses = [], []
        for i in range(0, Sq, block_size):
            qi = q[:, :, i:i + block_size]
            m = torch.full(qi.shape[:3], -math.inf, dtype=q.dtype, device=q.device)
            l = torch.zeros_like(m)
            acc = torch.zeros(*qi.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
            for j in range(0, Sk, block_size):
                if causal and j > i + qi.shape[2] - 1 + Sk - Sq:
                    break
                kj, vj = k[:, :, j:j + block_size], v[:, :, j:j + block_size]
                s = qi @ kj.transpose(-1, -2) * scale
                if causal:
                    rows = torch.arange(i, i + qi.shape[2], device=q.device)[:, None] + Sk - Sq
                    cols = torch.arange(j, j + kj.shape[2], device=q.device)
                    s = s.masked_fill(cols > rows, -math.inf)
                m_new = torch.maximum(m, s.max(-1).values)
                alpha = torch.exp(m - m_new)
                p = torch.exp(s - m_new[..., None])
                l = alpha * l + p.sum(-1)
                acc = alpha[..., None] * acc + p @ vj
                m = m_new
            outs.append(acc / l[..., None])
            lses.append(m + torch.log(l))
        out, lse = torch.cat(outs, 2), torch.cat(lses, 2)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal, ctx.block_size, ctx.scale = causal, block_size, scale
        return out

    @staticmethod
    def backward(ctx, do):
        q, k, v, out, lse = ctx.saved_tensors
        causal, block_size, scale = ctx.causal, ctx.block_size, ctx.scale
        Sq, Sk = q.shape[2], k.shape[2]
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        D = (do * out).sum(-1)
        for j in range(0, Sk, block_size):
            kj, vj = k[:, :, j:j + block_size], v[:, :, j:j + block_size]
            for i in range(0, Sq, block_size):
                qi, doi = q[:, :, i:i + block_size], do[:, :, i:i + block_size]
                if causal and j > i + qi.shape[2] - 1 + Sk - Sq:
                    continue
                s = qi @ kj.transpose(-1, -2) * scale
                if causal:
                    rows = torch.arange(i, i + qi.shape[2], device=q.device)[:, None] + Sk - Sq
                    cols = torch.arange(j, j + kj.shape[2], device=q.device)
                    s = s.masked_fill(cols > rows, -math.inf)
                p = torch.exp(s - lse[:, :, i:i + block_size, None])
                dv[:, :, j:j + block_size] += p.transpose(-1, -2) @ doi
                dp = doi @ vj.transpose(-1, -2)
                ds = p * (dp - D[:, :, i:i + block_size, None]) * scale
                dq[:, :, i:i + block_size] += ds @ kj
                dk[:, :, j:j + block_size] += ds.transpose(-1, -2) @ qi
        return dq, dk, dv, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    check(q, k, v, causal, block_size)
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    return FlashAttention.apply(q, k, v, causal, block_size).to(dtype)
