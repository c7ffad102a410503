"""InfoNCE with a learnable temperature. Statement: katas/contrastive/learnable_temperature/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class InfoNCE(nn.Module):
    """L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / Σ_{k≠i} exp(s(i, k)/τ)),  τ = exp(log_temperature)

    s(i, k) is the cosine similarity of rows i and k; i⁺ = (i + N) mod 2N is the other view of sample i.

    Args:
        init_temperature: τ at first, above 0.
    Raises: ValueError if init_temperature is not above 0.
    Source: arXiv:2002.05709, eq. 1; arXiv:2103.00020, section 2.5, whose parameter is log(1/τ), and bounded.
    """

    def __init__(self, init_temperature: float = 0.07) -> None:
        super().__init__()
        # TODO: make log_temperature, the one number that is trained. Then check the argument, and raise ValueError.
        raise NotImplementedError

    @property
    def temperature(self) -> Tensor:
        """τ, a 0-d tensor that gradients flow through to log_temperature."""
        # TODO: give back τ as it is now.
        raise NotImplementedError

    def forward(self, features: Tensor) -> Tensor:
        """Takes the loss of features (2N, D), whose rows i and i + N are two views of one sample.

        Returns: a scalar, in the dtype of features.
        Raises: ValueError if features is not 2-D or its number of rows is odd.
        """
        # TODO: make the logits, (2N, 2N), from the temperature and the cosine similarities of all pairs of rows.
        # TODO: leave each row itself out, find the column of its positive, and take the mean loss of all rows.
        # TODO: then make it robust: check the argument, and raise ValueError; τ may be small, the dtype half precision.
        raise NotImplementedError
