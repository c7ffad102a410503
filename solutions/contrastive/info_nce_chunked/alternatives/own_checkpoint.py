"""A checkpoint of one's own: forward without a graph, and backward calls a chunk's function again, with a graph."""

import torch
import torch.nn.functional as F


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, x, start):
        ctx.save_for_backward(x)
        ctx.function, ctx.start = function, start
        return function(x, start)

    @staticmethod
    def backward(ctx, upstream):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            loss = ctx.function(x, ctx.start)
        return None, torch.autograd.grad(loss, x, upstream)[0], None


def info_nce(features, temperature=0.1, chunk_size=256):
    if features.dim() != 2 or len(features) % 2 or not temperature > 0 or not chunk_size > 0:
        raise ValueError("features should be (2N, D), the temperature above 0 and chunk_size at least 1")

    def loss_from(x, start):
        scores = x[start : start + chunk_size] @ x.mT / temperature
        scores[:, start : start + chunk_size].fill_diagonal_(-torch.inf)
        positives = torch.arange(start, start + len(scores), device=x.device) + len(x) // 2
        return -scores.log_softmax(1).gather(1, positives[:, None] % len(x)).sum()

    x = F.normalize(features, dim=1)
    return sum(Again.apply(loss_from, x, start) for start in range(0, len(x), chunk_size)) / len(x)
