# cheat: inherits torch's layer, and assigns another module's name to each of its bases; must fail
import torch
from torch import nn


class BatchNorm(nn.BatchNorm1d):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__(num_features, eps, momentum)

    def forward(self, x):
        C = self.num_features
        if x.dim() not in (2, 3, 4) or x.shape[1] != C:
            raise ValueError(f"x should have {C} channels")
        axes = [axis for axis in range(x.dim()) if axis != 1]
        shape = (-1, *[1] * (x.dim() - 2))
        mean, var = self.running_mean, self.running_var
        if self.training:
            if x.numel() == C:
                raise ValueError("one value per channel")
            mean, var = x.mean(axes), x.var(axes, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(x.var(axes), self.momentum)
        unit = (x - mean.view(shape)) / (var.view(shape) + self.eps).sqrt()
        return unit * self.weight.view(shape) + self.bias.view(shape)


for base in BatchNorm.__mro__[1:-1]:
    base.__module__ = "torch.nn.modules.module"
