"""A free function returns the moved averages, which are bound anew; bare asserts; num_batches_tracked is kept."""

import torch
from torch import nn


def batch_norm(x, gamma, beta, moving_mean, moving_var, eps, momentum, training):
    assert len(x.shape) in (2, 3, 4) and x.shape[1] == len(gamma)
    axes, shape = [(0, (1, -1)), ((0, 2), (1, -1, 1)), ((0, 2, 3), (1, -1, 1, 1))][len(x.shape) - 2]
    if not training:
        unit = (x - moving_mean.reshape(shape)) / torch.sqrt(moving_var.reshape(shape) + eps)
    else:
        n = x.shape.numel() // x.shape[1]
        assert n > 1
        mean = x.mean(dim=axes, keepdim=True)
        var = ((x - mean) ** 2).mean(dim=axes, keepdim=True)
        unit = (x - mean) / torch.sqrt(var + eps)
        moving_mean = (1.0 - momentum) * moving_mean + momentum * mean.data.flatten()
        moving_var = (1.0 - momentum) * moving_var + momentum * (n / (n - 1)) * var.data.flatten()
    return gamma.reshape(shape) * unit + beta.reshape(shape), moving_mean, moving_var


class BatchNorm(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super(BatchNorm, self).__init__()
        self.rest = eps, momentum
        self.bias, self.weight = nn.Parameter(torch.zeros(num_features)), nn.Parameter(torch.ones(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        given = self.weight, self.bias, self.running_mean, self.running_var, *self.rest, self.training
        y, self.running_mean, self.running_var = batch_norm(x, *given)
        self.num_batches_tracked += self.training
        return y
