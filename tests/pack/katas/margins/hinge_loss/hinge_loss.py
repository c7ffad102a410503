"""Hinge loss by hand. Statement: katas/margins/hinge_loss/README.md."""

import torch
from torch import Tensor


def hinge_loss(scores: Tensor, y: Tensor) -> Tensor:
    """L = 1/N Σ_n max(0, 1 − y_n s_n)

    Args:
        scores: (N,).
        y: (N,), each 1 or -1.
    Returns: a scalar, in the dtype of scores.
    Raises: ValueError if the shapes differ.
    """
    # TODO: refuse shapes that differ.
    # TODO: average what each score lacks to the margin.
    raise NotImplementedError
