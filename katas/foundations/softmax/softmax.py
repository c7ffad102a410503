"""Softmax and its logarithm by hand. Statement: katas/foundations/softmax/README.md."""

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """p_i = exp(x_i) / Σ_j exp(x_j), with the sum along `dim`

    Args:
        x: one axis or more.
        dim: the axis along which the results add up to 1.
    Returns: the shape and dtype of x. Where x is −∞ along all of `dim`, NaN.
    Source: torch.softmax.
    """
    # TODO: divide the exponentials by their sum along `dim`.
    # TODO: then make it robust: which x are too large for exp, and which too small?
    raise NotImplementedError


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """l_i = log softmax(x)_i = x_i − log Σ_j exp(x_j), with the sum along `dim`

    Args:
        x: one axis or more.
        dim: the axis along which the exponentials of the results add up to 1.
    Returns: the shape and dtype of x. Where x is −∞ along all of `dim`, NaN.
    Source: torch.log_softmax.
    """
    # TODO: take the logarithm of the softmax.
    # TODO: then make it robust: put the formula together so that each result is finite where x is.
    raise NotImplementedError
