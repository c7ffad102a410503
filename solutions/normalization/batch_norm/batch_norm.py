"""Batch normalisation by hand. Statement: katas/normalization/batch_norm/README.md."""

import torch
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """y = γ (x − μ) / √(σ² + ε) + β, with μ, σ², γ and β of each channel

    In training mode μ and σ² are the mean and the biased variance of the batch, and the running statistics follow the
    batches. In evaluation mode μ and σ² are the running statistics.

    Args:
        num_features: C, the channels.
        eps: ε, added to the variance.
        momentum: m, the share of the newest batch: running ← (1 − m) · running + m · batch.
    Source: arXiv:1502.03167, algorithms 1 and 2. Our γ and β are `weight` and `bias`, as in torch.nn.BatchNorm2d.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        # --- solution
        # TODO: keep the arguments.
        # TODO: make the parameters weight and bias. With which values does the formula only normalise x at first?
        # TODO: make running_mean (zeros) and running_var (ones): saved with the module, but not trained.
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Normalises each channel of x: (N, C), (N, C, L) or (N, C, H, W).

        Returns: the shape and dtype of x.
        Raises: ValueError if x has another rank or number of channels, or in training one value per channel.
        """
        # --- solution
        # TODO: in training, take the statistics of the batch, and move the running ones towards them.
        # TODO: in evaluation, take the running ones.
        # TODO: put the formula together, each channel with its own four numbers.
        # TODO: then make it robust: refuse another rank, another number of channels,
        #       and in training a single value per channel.
        C = self.num_features
        if x.dim() not in (2, 3, 4) or x.shape[1] != C:
            raise ValueError(f"x should be (N, {C}), (N, {C}, L) or (N, {C}, H, W), got {tuple(x.shape)}")
        if self.training:
            count = x.numel() // C  # the values that one channel has
            if count == 1:
                raise ValueError(f"x should have two values per channel or more in training, got {tuple(x.shape)}")
            axes = [axis for axis in range(x.dim()) if axis != 1]
            mean = x.mean(axes)
            var = x.var(axes, correction=0)
            with torch.no_grad():
                m = self.momentum
                self.running_mean.copy_((1 - m) * self.running_mean + m * mean)
                self.running_var.copy_((1 - m) * self.running_var + m * var * (count / (count - 1)))
        else:
            mean, var = self.running_mean, self.running_var
        channels = (-1, *[1] * (x.dim() - 2))  # (C,), (C, 1) or (C, 1, 1)
        centred = x - mean.view(channels)
        unit = centred / torch.sqrt(var.view(channels) + self.eps)
        return unit * self.weight.view(channels) + self.bias.view(channels)
        # --- end
