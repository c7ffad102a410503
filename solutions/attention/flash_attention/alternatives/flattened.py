import torch

attend = None


class FlashAttention(torch.autograd.Function):
    """On (N, S, d), N = B * H, with q scaled already."""

    @staticmethod
    def forward(ctx, q, k, v, causal, size):
        n, sq, _ = q.shape
        sk = k.shape[1]
        low = torch.finfo(q.dtype).min
        best = torch.full((n, sq, 1), low, dtype=q.dtype, device=q.device)
        norm = torch.zeros((n, sq, 1), dtype=q.dtype, device=q.device)
        acc = torch.zeros((n, sq, v.shape[2]), dtype=q.dtype, device=q.device)
        pos = torch.arange(sk - sq, sk, device=q.device).unsqueeze(-1)
        for lo in range(0, sk, size):
            hi = min(lo + size, sk)
            s = torch.bmm(q, k[:, lo:hi].transpose(1, 2))
            if causal:
                s.masked_fill_(torch.arange(lo, hi, device=q.device) > pos, low)
            top = torch.maximum(best, s.amax(2, keepdim=True))
            s.sub_(top).exp_()
            fade = best.sub_(top).exp_()
            norm.mul_(fade).add_(s.sum(2, keepdim=True))
            acc.mul_(fade)
            torch.baddbmm(acc, s, v[:, lo:hi], out=acc)
            best = top
        acc.div_(norm)
        ctx.save_for_backward(q, k, v, acc, best, norm)
        ctx.causal, ctx.size = causal, size
        return acc

    @staticmethod
    def backward(ctx, g):
        q, k, v, out, best, norm = ctx.saved_tensors
        sq, sk = q.shape[1], k.shape[1]
        pos = torch.arange(sk - sq, sk, device=q.device).unsqueeze(-1)
        gq, gk, gv = torch.zeros_like(q), torch.empty_like(k), torch.empty_like(v)
        inner = (g * out).sum(2, keepdim=True)
        for lo in range(0, sk, ctx.size):
            hi = min(lo + ctx.size, sk)
            p = torch.bmm(q, k[:, lo:hi].transpose(1, 2)).sub_(best).exp_().div_(norm)
            if ctx.causal:
                p.masked_fill_(torch.arange(lo, hi, device=q.device) > pos, 0)
            gv[:, lo:hi] = torch.bmm(p.transpose(1, 2), g)
            t = torch.bmm(g, v[:, lo:hi].transpose(1, 2)).sub_(inner).mul_(p)
            gq.baddbmm_(t, k[:, lo:hi])
            gk[:, lo:hi] = torch.bmm(t.transpose(1, 2), q)
        return gq, gk, gv, None, None


attend = FlashAttention.apply


def flash_attention(q, k, v, causal=False, block_size=64):
    assert block_size > 0, block_size
    assert q.ndim == k.ndim == v.ndim == 4
    assert q.shape[0] == k.shape[0] == v.shape[0]
    assert q.shape[1] == k.shape[1] == v.shape[1]
    assert q.shape[3] == k.shape[3] and k.shape[2] == v.shape[2]
    assert not (causal and q.shape[2] > k.shape[2])
    wide = q.dtype if q.dtype == torch.float64 else torch.float32
    flat = [x.to(wide).flatten(0, 1) for x in (q / q.shape[3] ** 0.5, k, v)]
    return attend(*flat, causal, block_size).unflatten(0, q.shape[:2]).to(q.dtype)
