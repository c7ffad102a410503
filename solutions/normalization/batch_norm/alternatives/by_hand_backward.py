"""A custom autograd function on rows (C, M): dx = γ / √(σ² + ε) · (dy − mean(dy) − x̂ · mean(dy · x̂))."""

import torch
from torch import nn


class Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, weight, bias, mean, var, eps, training):
        inverse = (var + eps).rsqrt()[:, None]
        unit = (rows - mean[:, None]) * inverse
        ctx.save_for_backward(unit, inverse, weight)
        ctx.training = training
        return unit * weight[:, None] + bias[:, None]

    @staticmethod
    def backward(ctx, grad):
        unit, inverse, weight = ctx.saved_tensors
        down = grad * weight[:, None]
        if ctx.training:
            down = down - down.mean(1, keepdim=True) - unit * (down * unit).mean(1, keepdim=True)
        return down * inverse, (grad * unit).sum(1), grad.sum(1), None, None, None, None


class BatchNorm(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight, self.bias = (nn.Parameter(torch.full((num_features,), value)) for value in (1.0, 0.0))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, x):
        if not 2 <= x.dim() <= 4 or len(self.weight) != x.size(1):
            raise ValueError(f"no such input: {x.shape}")
        swapped = x.transpose(0, 1)
        rows = swapped.flatten(1)
        mean, var = self.running_mean, self.running_var
        if self.training:
            if rows.size(1) == 1:
                raise ValueError("one value per channel")
            with torch.no_grad():
                mean, var = rows.mean(1), rows.var(1, correction=0)
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(rows.var(1), self.momentum)
        out = Normalize.apply(rows, self.weight, self.bias, mean, var, self.eps, self.training)
        return out.view(swapped.shape).transpose(0, 1)
