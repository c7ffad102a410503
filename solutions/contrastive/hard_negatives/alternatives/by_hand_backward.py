"""A custom autograd function: the softmax over the candidates is scattered back into a (2N, 2N) table of shares."""

import torch


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, tau, k):
        norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        unit = x / norm
        logits = unit @ unit.T / tau
        i = torch.arange(len(x), device=x.device)
        ranked = logits.clone().fill_diagonal_(-torch.inf)
        ranked[i, i.roll(len(x) // 2)] = torch.inf  # the positive comes first
        columns = ranked.topk(min(k, len(x) - 2) + 1).indices
        log_share = logits.gather(1, columns).log_softmax(1)
        share = log_share.exp()
        share[:, 0] -= 1
        ctx.save_for_backward(unit, norm, torch.zeros_like(logits).scatter(1, columns, share) / tau / len(x))
        return -log_share[:, 0].mean()

    @staticmethod
    def backward(ctx, grad):
        unit, norm, share = ctx.saved_tensors
        of_unit = (share + share.T) @ unit
        return grad * (of_unit - (of_unit * unit).sum(1, keepdim=True) * unit) / norm, None, None


def info_nce_hard(features, temperature=0.1, top_k=10):
    assert features.dim() == 2 and len(features) % 2 == 0 and temperature > 0 and top_k > 0
    return Loss.apply(features, temperature, top_k)
