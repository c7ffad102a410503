"""Tiles of (chunk_size, chunk_size) with a running maximum and sum, as in FlashAttention: many operators."""

import torch
import torch.nn.functional as F
from torch import Tensor


def tile(unit: Tensor, anchors: Tensor, keys: Tensor, temperature: float) -> Tensor:
    logits = unit[anchors] @ unit[keys].mT / temperature
    return logits.masked_fill(anchors[:, None] == keys, -torch.inf)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, unit, temperature, chunk_size):
        rows = len(unit)
        chunks = torch.arange(rows, device=unit.device).split(chunk_size)
        log_totals = []
        for anchors in chunks:
            highest = unit.new_full((len(anchors),), -torch.inf)
            total = torch.zeros_like(highest)
            for keys in chunks:
                logits = tile(unit, anchors, keys, temperature)
                higher = torch.maximum(highest, logits.amax(1))
                shift = torch.where(higher.isinf(), 0, higher)  # as long as an anchor has met itself alone
                total = total * (highest - shift).exp() + (logits - shift[:, None]).exp().sum(1)
                highest = higher
            log_totals.append(highest + total.log())
        log_totals = torch.cat(log_totals)
        ctx.save_for_backward(unit, log_totals)
        ctx.temperature, ctx.chunks = temperature, chunks
        positives = (unit * unit.roll(-rows // 2, 0)).sum(1) / temperature
        return (log_totals - positives).mean()

    @staticmethod
    def backward(ctx, upstream):
        unit, log_totals = ctx.saved_tensors
        gradient = -2 * unit.roll(-len(unit) // 2, 0)
        for anchors in ctx.chunks:
            for keys in ctx.chunks:
                share = (tile(unit, anchors, keys, ctx.temperature) - log_totals[anchors, None]).exp()
                gradient[anchors] += share @ unit[keys]
                gradient[keys] += share.mT @ unit[anchors]
        return gradient * (upstream / len(unit) / ctx.temperature), None, None


def info_nce(features: Tensor, temperature: float = 0.1, chunk_size: int = 256) -> Tensor:
    if features.dim() != 2 or len(features) % 2:
        raise ValueError(f"features should be (2N, D), got {tuple(features.shape)}")
    if temperature <= 0 or chunk_size < 1:
        raise ValueError(f"should be above 0: temperature {temperature} and chunk_size {chunk_size}")
    return Loss.apply(F.normalize(features, dim=1), temperature, chunk_size)
