import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def mask_for(i, j, br, bc, offset, device):
    return (torch.arange(br, device=device) + i + offset).unsqueeze(1) >= (torch.arange(bc, device=device) + j).unsqueeze(0)


class FlashAttention(Function):
    @staticmethod
    def forward(ctx, Q, K, V, causal, Br, Bc):
        N, M = Q.size(-2), K.size(-2)
        tau = Q.size(-1) ** -0.5
        O = Q.new_zeros(Q.shape[:-1] + V.shape[-1:])
        l = Q.new_zeros(Q.shape[:-1] + (1,))
        m = torch.full_like(l, float("-inf"))
        for j in range(0, M, Bc):
            Kj, Vj = K[..., j:j + Bc, :], V[..., j:j + Bc, :]
            for i in range(0, N, Br):
                rows = slice(i, min(i + Br, N))
                Qi, Oi, li, mi = Q[..., rows, :], O[..., rows, :], l[..., rows, :], m[..., rows, :]
                S = tau * Qi @ Kj.mT
                if causal:
                    S = torch.where(mask_for(i, j, S.shape[-2], S.shape[-1], M - N, Q.device), S, float("-inf"))
                mt = S.max(dim=-1, keepdim=True)[0]
                mt = torch.where(mt.isinf(), torch.zeros_like(mt).fill_(torch.finfo(S.dtype).min), mt)
                P = (S - mt).exp()
                lt = P.sum(dim=-1, keepdim=True)
                mn = torch.max(mi, mt)
                old, new = (mi - mn).exp(), (mt - mn).exp()
                ln = old * li + new * lt
                safe = torch.where(ln == 0, torch.ones_like(ln), ln)
                O[..., rows, :] = (li * old * Oi + new * (P @ Vj)) / safe
                l[..., rows, :] = ln
                m[..., rows, :] = mn
        ctx.save_for_backward(Q, K, V, O, l, m)
        ctx.rest = causal, tau, Br, Bc
        return O

    @staticmethod
    @once_differentiable
    def backward(ctx, dO):
        Q, K, V, O, l, m = ctx.saved_tensors
        causal, tau, Br, Bc = ctx.rest
        N, M = Q.size(-2), K.size(-2)
        dQ = torch.zeros_like(Q)
        dKs, dVs = [], []
        for j in range(0, M, Bc):
            Kj, Vj = K[..., j:j + Bc, :], V[..., j:j + Bc, :]
            dK, dV = torch.zeros_like(Kj), torch.zeros_like(Vj)
            for i in range(0, N, Br):
                rows = slice(i, min(i + Br, N))
                S = tau * Q[..., rows, :] @ Kj.mT
                if causal:
                    S = torch.where(mask_for(i, j, S.shape[-2], S.shape[-1], M - N, Q.device), S, float("-inf"))
                P = (S - m[..., rows, :]).exp() / l[..., rows, :]
                dV = dV + P.mT @ dO[..., rows, :]
                dP = dO[..., rows, :] @ Vj.mT
                Di = (dO[..., rows, :] * O[..., rows, :]).sum(-1, keepdim=True)
                dS = P * (dP - Di)
                dQ[..., rows, :] += tau * dS @ Kj
                dK = dK + tau * dS.mT @ Q[..., rows, :]
            dKs.append(dK)
            dVs.append(dV)
        return dQ, torch.cat(dKs, -2), torch.cat(dVs, -2), None, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    assert block_size >= 1
    B, H, N, d = q.shape
    assert k.shape[:2] == (B, H) and k.shape[3] == d
    assert v.shape[:3] == k.shape[:3]
    assert not causal or N <= k.shape[2]
    up = torch.promote_types(q.dtype, torch.float32)
    return FlashAttention.apply(q.to(up), k.to(up), v.to(up), causal, block_size, block_size).to(q.dtype)
