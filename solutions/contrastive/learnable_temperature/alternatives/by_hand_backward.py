"""A custom autograd function that knows both gradients: that of log τ is the mean of (s⁺ − Σ p s) / τ."""

import torch
from torch import nn


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, log_tau):
        norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        unit = x / norm
        logits = unit @ unit.T / log_tau.exp()
        i = torch.arange(len(x), device=x.device)
        other = (i + len(x) // 2) % len(x)
        log_share = logits.clone().fill_diagonal_(-torch.inf).log_softmax(1)
        share = log_share.exp()
        share[i, other] -= 1
        ctx.save_for_backward(unit, norm, log_tau, logits, share)
        return -log_share[i, other].mean()

    @staticmethod
    def backward(ctx, grad):
        unit, norm, log_tau, logits, share = ctx.saved_tensors
        of_unit = (share + share.T) @ unit / log_tau.exp()
        of_x = (of_unit - (of_unit * unit).sum(1, keepdim=True) * unit) / norm
        return grad * of_x / len(unit), -grad * (share * logits).sum() / len(unit)


class InfoNCE(nn.Module):
    def __init__(self, init_temperature=0.07):
        super().__init__()
        assert init_temperature > 0
        self.log_temperature = nn.Parameter(torch.tensor(float(init_temperature)).log())

    temperature = property(lambda self: self.log_temperature.exp())

    def forward(self, features):
        assert features.dim() == 2 and len(features) % 2 == 0
        return Loss.apply(features, self.log_temperature)
