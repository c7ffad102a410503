# honest: clones, views, detaches and moves x, and works in place on the copies; must pass
import torch
from torch import Tensor, nn


class BatchNorm(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in (2, 3, 4):
            raise ValueError("rank")
        if x.shape[1] != self.num_features:
            raise ValueError("channels")
        axes = [a for a in range(x.ndim) if a != 1]
        shape = [1, -1] + [1] * (x.ndim - 2)
        h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        copy = x.detach().clone().zero_()
        rows = x.transpose(0, 1).flatten(1).contiguous()
        assert rows.data.view(-1).numel() == copy.numel() == x.data.expand_as(x).numel()
        h = h.view_as(h).movedim(1, 0).movedim(0, 1) + copy.to(h.dtype)
        if self.training:
            n = x.numel() // x.shape[1]
            if n < 2:
                raise ValueError("one value per channel")
            mean = h.mean(axes)
            var = (h - mean.view(shape)).square().mean(axes)
            with torch.no_grad():
                m = self.momentum
                self.running_mean.mul_(1 - m).add_(m * mean)
                self.running_var.mul_(1 - m).add_(m * var * n / (n - 1))
        else:
            mean, var = self.running_mean, self.running_var
        y = (h - mean.view(shape)) / torch.sqrt(var.view(shape) + self.eps)
        y = y * self.weight.view(shape) + self.bias.view(shape)
        return y.to(x.dtype)
