# honest: padded blocks, and gradients only for inputs that need them; must pass
import math
import torch
import torch.nn.functional as F


def scores(q, kb, first, n_keys, causal):
    s = q @ kb.transpose(2, 3)
    sq = q.size(2)
    j = first + torch.arange(kb.size(2), device=q.device)
    seen = (j < n_keys).expand(sq, -1)
    if causal:
        seen = seen & (j <= torch.arange(n_keys - sq, n_keys, device=q.device)[:, None])
    return s.where(seen, torch.tensor(-math.inf, dtype=s.dtype, device=s.device))


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, block_size):
        n = k.size(2)
        block_size = min(block_size, n)
        blocks = -(-n // block_size)
        pad = blocks * block_size - n
        ks = F.pad(k, (0, 0, 0, pad)).chunk(blocks, 2)
        vs = F.pad(v, (0, 0, 0, pad)).chunk(blocks, 2)
        qs = q / math.sqrt(q.size(3))
        state = None
        for b in range(blocks):
            s = scores(qs, ks[b], b * block_size, n, causal)
            m = s.max(3, keepdim=True)[0]
            if state is not None:
                m = m.max(state[0])
            e = (s - m).exp()
            l, o = e.sum(3, keepdim=True), e @ vs[b]
            if state is not None:
                r = (state[0] - m).exp()
                l, o = l + r * state[1], o + r * state[2]
            state = m, l, o
        m, l, o = state
        out = o / l
        ctx.save_for_backward(q, k, v, out, m.add(l.log()))
        ctx.meta = n, block_size, blocks, pad, causal
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        n, block_size, blocks, pad, causal = ctx.meta
        ks = F.pad(k, (0, 0, 0, pad)).chunk(blocks, 2)
        vs = F.pad(v, (0, 0, 0, pad)).chunk(blocks, 2)
        root = math.sqrt(q.size(3))
        delta = torch.einsum("bhsc,bhsc->bhs", grad, out).unsqueeze(-1)
        dq, dks, dvs = torch.zeros_like(q), [], []
        for b in range(blocks):
            p = (scores(q / root, ks[b], b * block_size, n, causal) - lse).exp()
            dvs.append(p.transpose(2, 3) @ grad)
            ds = (grad @ vs[b].transpose(2, 3) - delta) * p / root
            dq += ds @ ks[b]
            dks.append(ds.transpose(2, 3) @ q)
        dk = dv = None
        if ctx.needs_input_grad[1]:
            dk = torch.cat(dks, 2)[:, :, :n]
        if ctx.needs_input_grad[2]:
            dv = torch.cat(dvs, 2)[:, :, :n]
        return (dq if ctx.needs_input_grad[0] else None), dk, dv, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    (B, H, sq, d), (B2, H2, sk, d2), (B3, H3, sk2, _) = q.shape, k.shape, v.shape
    if not (B == B2 == B3 and H == H2 == H3 and d == d2 and sk == sk2):
        raise ValueError("disagree")
    if block_size <= 0:
        raise ValueError("block_size")
    if causal and sk < sq:
        raise ValueError("causal")
    if q.dtype.itemsize == 2:
        return flash_attention(q.float(), k.float(), v.float(), causal, block_size).to(q.dtype)
    return FlashAttention.apply(q, k, v, causal, block_size)
