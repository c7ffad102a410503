import torch
from torch import einsum
from torch.autograd.function import Function

EPSILON = 1e-10


class FlashAttention(Function):
    @staticmethod
    @torch.no_grad()
    def forward(ctx, q, k, v, causal, q_bucket_size, k_bucket_size):
        device = q.device
        max_neg_value = -torch.finfo(q.dtype).max
        qk_len_diff = k.shape[-2] - q.shape[-2]
        o = torch.zeros((*q.shape[:-1], v.shape[-1]), dtype=q.dtype, device=device)
        all_row_sums = torch.zeros((*q.shape[:-1], 1), dtype=q.dtype, device=device)
        all_row_maxes = torch.full((*q.shape[:-1], 1), max_neg_value, dtype=q.dtype, device=device)
        scale = q.shape[-1] ** -0.5
        row_splits = zip(
            q.split(q_bucket_size, dim=-2),
            o.split(q_bucket_size, dim=-2),
            all_row_sums.split(q_bucket_size, dim=-2),
            all_row_maxes.split(q_bucket_size, dim=-2),
        )
        for ind, (qc, oc, row_sums, row_maxes) in enumerate(row_splits):
            q_start_index = ind * q_bucket_size + qk_len_diff
            col_splits = zip(k.split(k_bucket_size, dim=-2), v.split(k_bucket_size, dim=-2))
            for k_ind, (kc, vc) in enumerate(col_splits):
                k_start_index = k_ind * k_bucket_size
                attn_weights = einsum("... i d, ... j d -> ... i j", qc, kc) * scale
                if causal and q_start_index < (k_start_index + k_bucket_size - 1):
                    causal_mask = torch.ones((qc.shape[-2], kc.shape[-2]), dtype=torch.bool, device=device).triu(
                        q_start_index - k_start_index + 1
                    )
                    attn_weights.masked_fill_(causal_mask, max_neg_value)
                block_row_maxes = attn_weights.amax(dim=-1, keepdims=True)
                new_row_maxes = torch.maximum(block_row_maxes, row_maxes)
                exp_weights = torch.exp(attn_weights - new_row_maxes)
                block_row_sums = exp_weights.sum(dim=-1, keepdims=True).clamp(min=EPSILON)
                exp_values = einsum("... i j, ... j d -> ... i d", exp_weights, vc)
                exp_row_max_diff = torch.exp(row_maxes - new_row_maxes)
                new_row_sums = exp_row_max_diff * row_sums + block_row_sums
                oc.mul_(exp_row_max_diff).add_(exp_values)
                row_maxes.copy_(new_row_maxes)
                row_sums.copy_(new_row_sums)
            oc.div_(row_sums)
        lse = all_row_sums.log() + all_row_maxes
        ctx.args = (causal, scale, q_bucket_size, k_bucket_size)
        ctx.save_for_backward(q, k, v, o, lse)
        return o

    @staticmethod
    @torch.no_grad()
    def backward(ctx, do):
        causal, scale, q_bucket_size, k_bucket_size = ctx.args
        q, k, v, o, lse = ctx.saved_tensors
        device = q.device
        max_neg_value = -torch.finfo(q.dtype).max
        qk_len_diff = k.shape[-2] - q.shape[-2]
        dq = torch.zeros_like(q)
        dk = torch.zeros_like(k)
        dv = torch.zeros_like(v)
        row_splits = zip(
            q.split(q_bucket_size, dim=-2),
            o.split(q_bucket_size, dim=-2),
            do.split(q_bucket_size, dim=-2),
            lse.split(q_bucket_size, dim=-2),
            dq.split(q_bucket_size, dim=-2),
        )
        for ind, (qc, oc, doc, lsec, dqc) in enumerate(row_splits):
            q_start_index = ind * q_bucket_size + qk_len_diff
            col_splits = zip(
                k.split(k_bucket_size, dim=-2),
                v.split(k_bucket_size, dim=-2),
                dk.split(k_bucket_size, dim=-2),
                dv.split(k_bucket_size, dim=-2),
            )
            for k_ind, (kc, vc, dkc, dvc) in enumerate(col_splits):
                k_start_index = k_ind * k_bucket_size
                attn_weights = einsum("... i d, ... j d -> ... i j", qc, kc) * scale
                if causal and q_start_index < (k_start_index + k_bucket_size - 1):
                    causal_mask = torch.ones((qc.shape[-2], kc.shape[-2]), dtype=torch.bool, device=device).triu(
                        q_start_index - k_start_index + 1
                    )
                    attn_weights.masked_fill_(causal_mask, max_neg_value)
                p = torch.exp(attn_weights - lsec)
                dv_chunk = einsum("... i j, ... i d -> ... j d", p, doc)
                dp = einsum("... i d, ... j d -> ... i j", doc, vc)
                D = (doc * oc).sum(dim=-1, keepdims=True)
                ds = p * scale * (dp - D)
                dq_chunk = einsum("... i j, ... j d -> ... i d", ds, kc)
                dk_chunk = einsum("... i j, ... i d -> ... j d", ds, qc)
                dqc.add_(dq_chunk)
                dkc.add_(dk_chunk)
                dvc.add_(dv_chunk)
        return dq, dk, dv, None, None, None


def flash_attention(q, k, v, causal=False, block_size=64):
    if block_size < 1:
        raise ValueError("block_size")
    if q.shape[:2] != k.shape[:2] or k.shape[:2] != v.shape[:2] or q.shape[-1] != k.shape[-1] or k.shape[2] != v.shape[2]:
        raise ValueError("shapes")
    if causal and q.shape[2] > k.shape[2]:
        raise ValueError("more queries than keys")
    qf, kf, vf = (t.float() if t.dtype != torch.float64 else t for t in (q, k, v))
    return FlashAttention.apply(qf, kf, vf, causal, block_size, block_size).type(q.dtype)
