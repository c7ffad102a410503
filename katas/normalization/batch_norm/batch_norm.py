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
        # TODO: keep the arguments.
        # TODO: make the parameters weight and bias. With which values does the formula only normalise x at first?
        # TODO: make running_mean (zeros) and running_var (ones): saved with the module, but not trained.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Normalises each channel of x: (N, C), (N, C, L) or (N, C, H, W).

        Returns: the shape and dtype of x.
        Raises: ValueError if x has another rank or number of channels, or in training one value per channel.
        """
        # TODO: in training, take the statistics of the batch, and move the running ones towards them.
        # TODO: in evaluation, take the running ones.
        # TODO: put the formula together, each channel with its own four numbers.
        # TODO: then make it robust: refuse another rank, another number of channels,
        #       and in training a single value per channel.
        raise NotImplementedError
