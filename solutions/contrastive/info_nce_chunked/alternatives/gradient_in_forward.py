"""The gradient is taken in the forward pass, chunk after chunk, and it alone is kept; backward only scales it."""

import torch
import torch.nn.functional as F


class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, tau, size):
        n = x.shape[0]
        leaf = x.detach().to(torch.promote_types(x.dtype, torch.float32)).clone()
        loss, grad = 0.0, torch.zeros_like(leaf)
        for rows in torch.arange(n, device=x.device).split(size):
            with torch.enable_grad():
                u = F.normalize(leaf.requires_grad_(), dim=1)
                hide = torch.zeros(len(rows), n, dtype=u.dtype, device=x.device).scatter_(1, rows[:, None], -torch.inf)
                part = F.cross_entropy(u[rows] @ u.T / tau + hide, (rows + n // 2) % n, reduction="sum") / n
            grad += torch.autograd.grad(part, leaf)[0]
            loss += part.detach()
        ctx.save_for_backward(grad)
        return loss.to(x.dtype)

    @staticmethod
    def backward(ctx, upstream):
        return (ctx.saved_tensors[0] * upstream).to(upstream.dtype), None, None


def info_nce(features, temperature=0.1, chunk_size=256):
    if features.dim() != 2 or features.size(0) % 2:
        raise ValueError("features should be (2N, D)")
    if not (temperature > 0 and chunk_size >= 1):
        raise ValueError("the temperature should be above 0, and chunk_size at least 1")
    return Fused.apply(features, temperature, chunk_size)
