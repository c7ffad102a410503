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
        self.running_mean, self.running_var = (nn.Buffer(torch.full((num_features,), value)) for value in (0.0, 1.0))

    def forward(self, x):
        assert 2 <= x.dim() <= 4 and len(self.weight) == x.size(1)
        swapped = x.transpose(0, 1)
        rows = swapped.flatten(1)
        mean, var = self.running_mean, self.running_var
        if self.training:
            assert rows.size(1) > 1
            with torch.no_grad():
                mean, var = rows.mean(1), rows.var(1, correction=0)
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(rows.var(1), self.momentum)
        out = Normalize.apply(rows, self.weight, self.bias, mean, var, self.eps, self.training)
        return out.view(swapped.shape).transpose(0, 1)
