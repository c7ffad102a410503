"""A free function returns the moved averages, which are bound anew; bare asserts; keeps num_batches_tracked, too."""

import torch
from torch import nn


def batch_norm(X, gamma, beta, moving_mean, moving_var, eps, momentum, training):
    assert len(X.shape) in (2, 3, 4) and X.shape[1] == len(gamma)
    axes, shape = [(0, (1, -1)), ((0, 2), (1, -1, 1)), ((0, 2, 3), (1, -1, 1, 1))][len(X.shape) - 2]
    if not training:
        X_hat = (X - moving_mean.reshape(shape)) / torch.sqrt(moving_var.reshape(shape) + eps)
    else:
        n = X.shape.numel() // X.shape[1]
        assert n > 1
        mean = X.mean(dim=axes, keepdim=True)
        var = ((X - mean) ** 2).mean(dim=axes, keepdim=True)
        X_hat = (X - mean) / torch.sqrt(var + eps)
        moving_mean = (1.0 - momentum) * moving_mean + momentum * mean.data.flatten()
        moving_var = (1.0 - momentum) * moving_var + momentum * (n / (n - 1)) * var.data.flatten()
    return gamma.reshape(shape) * X_hat + beta.reshape(shape), moving_mean, moving_var


class BatchNorm(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super(BatchNorm, self).__init__()
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.weight = nn.Parameter(torch.ones(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))
        self.rest = eps, momentum

    def forward(self, X):
        given = self.weight, self.bias, self.running_mean, self.running_var, *self.rest, self.training
        Y, self.running_mean, self.running_var = batch_norm(X, *given)
        self.num_batches_tracked += self.training
        return Y
