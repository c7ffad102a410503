"""The frozen weight is detached as well, and the scale goes to the low-rank features."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, in_features, out_features, rank, alpha=1.0, bias=True):
        if rank < 1:
            raise ValueError("rank must be positive")
        if rank > in_features or rank > out_features:
            raise ValueError("rank too large")
        super().__init__()
        self.in_features, self.out_features, self.rank, self.alpha = in_features, out_features, rank, alpha
        self.lora_A = nn.Parameter(torch.empty(rank, in_features).uniform_(-1, 1) / in_features**0.5)
        self.lora_B = nn.Parameter(torch.zeros((out_features, rank)))
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        self.linear.weight.requires_grad_(False)
        if self.linear.bias is not None:
            self.linear.bias.requires_grad_(False)

    def forward(self, x):
        W, b = self.linear.weight.detach(), self.linear.bias
        base = x @ W.mT if b is None else x @ W.mT + b.detach()
        return base + ((x @ self.lora_A.mT) * (self.alpha / self.rank)) @ self.lora_B.mT

    def merged(self):
        delta = (self.alpha / self.rank) * (self.lora_B @ self.lora_A)
        weight = (self.linear.weight + delta).detach().clone()
        layer = nn.Linear(self.in_features, self.out_features, bias=self.linear.bias is not None)
        layer.weight = nn.Parameter(weight, requires_grad=False)
        if self.linear.bias is not None:
            layer.bias = nn.Parameter(self.linear.bias.detach().clone(), requires_grad=False)
        return layer
