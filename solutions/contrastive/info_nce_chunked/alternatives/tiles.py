"""Tiles of (chunk_size, 512): a running log-sum-exp of each row, and the same tiles once more in backward."""

import torch
import torch.nn.functional as F


class LogTotals(torch.autograd.Function):
    """log Σ_{k≠i} exp(⟨u_i, u_k⟩) of each row i."""

    @staticmethod
    def forward(ctx, u, size):
        ids, total = torch.arange(len(u), device=u.device), u.new_full((len(u),), -torch.inf)
        for rows in ids.split(size):
            for columns in ids.split(512):
                tile = (u[rows] @ u[columns].T).masked_fill(rows[:, None] == columns, -torch.inf)
                total[rows] = torch.logaddexp(total[rows], tile.logsumexp(1))
        ctx.save_for_backward(u, total, ids)
        ctx.size = size
        return total

    @staticmethod
    def backward(ctx, upstream):
        u, total, ids = ctx.saved_tensors
        gradient = torch.zeros_like(u)
        for rows in ids.split(ctx.size):
            for columns in ids.split(512):
                tile = (u[rows] @ u[columns].T).masked_fill(rows[:, None] == columns, -torch.inf)
                share = (tile - total[rows, None]).exp() * upstream[rows, None]
                gradient[rows] += share @ u[columns]
                gradient[columns] += share.T @ u[rows]
        return gradient, None


def info_nce(features, temperature=0.1, chunk_size=256):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0 or chunk_size < 1:
        raise ValueError("features should be (2N, D), the temperature above 0 and chunk_size at least 1")
    x = features.to(torch.promote_types(features.dtype, torch.float32))
    u = F.normalize(x, dim=1) / temperature**0.5
    positives = (u * u.roll(len(u) // 2, 0)).sum(1)
    return (LogTotals.apply(u, chunk_size) - positives).mean().to(features.dtype)
