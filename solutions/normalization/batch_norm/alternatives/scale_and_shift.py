"""One scale and one shift per channel in either mode; channels last; half precision in float32."""

import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.running_mean, self.running_var = nn.Buffer(torch.zeros(num_features)), nn.Buffer(torch.ones(num_features))

    def forward(self, x):
        if x.dim() not in (2, 3, 4) or x.size(1) != self.bias.numel():
            raise ValueError(f"x should be (N, {self.bias.numel()}, …), got {tuple(x.shape)}")
        last = x.to(torch.promote_types(x.dtype, torch.float32)).movedim(1, -1)
        mean, var = self.running_mean.to(last.dtype), self.running_var.to(last.dtype)
        if self.training:
            rows = last.reshape(-1, last.size(-1))
            if len(rows) == 1:
                raise ValueError("x should have more than one value per channel in training")
            for running, batch in ((self.running_mean, rows.mean(0)), (self.running_var, rows.var(0))):
                running += self.momentum * (batch.detach() - running).to(running.dtype)
            std, mean = torch.std_mean(rows, 0, correction=0)
            var = std**2
        scale = self.weight * (var + self.eps) ** -0.5
        return (last * scale + (self.bias - mean * scale)).movedim(-1, 1).to(x.dtype)
