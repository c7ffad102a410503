"""Low-rank adaptation of a linear layer by hand. Statement: katas/blocks/lora_linear/README.md."""

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """y = W₀x + b + (α / r) · B A x, where W₀ and b are frozen

    Args:
        in_features, out_features, bias: of the frozen layer, as in nn.Linear.
        rank: r, from 1 to the smaller of in_features and out_features.
        alpha: α, above 0.
    Raises: ValueError if rank is out of this range.
    Source: arXiv:2106.09685, section 4.1, eq. 3.
    """

    def __init__(self, in_features: int, out_features: int, rank: int, alpha: float = 1.0, bias: bool = True) -> None:
        super().__init__()
        # TODO: make self.linear, an nn.Linear, and freeze it.
        # TODO: make the parameters self.lora_A (rank, in_features) and self.lora_B (out_features, rank). Which is zero?
        # TODO: then make it robust: refuse a rank that is too small or too large.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """x: (…, in_features). Returns: (…, out_features), in the dtype of x."""
        # TODO: add the frozen layer's output and the scaled low-rank one.
        # TODO: then make it cheap: in which order do you multiply x, A and B?
        raise NotImplementedError

    def merged(self) -> nn.Linear:
        """A new nn.Linear that computes the same, in this layer's dtype. This layer stays as it is."""
        # TODO: what is the weight of one layer that does the work of both?
        # TODO: then make it robust: memory of its own, this layer's dtype, and the bias.
        raise NotImplementedError
