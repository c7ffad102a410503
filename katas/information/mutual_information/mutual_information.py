"""Mutual information of a table by hand. Statement: katas/information/mutual_information/README.md."""

import math

import torch
from torch import Tensor


def mutual_information(joint: Tensor, base: float | None = None) -> Tensor:
    """I(x; y) = H(x) − H(x | y) = Σ_xy p(x, y) log (p(x, y) / (p(x) p(y)))

    Args:
        joint: (X, Y), the probabilities p(x, y).
        base: of the logarithm; None is the natural one.
    Returns: a scalar, in the dtype of joint.
    Raises: ValueError if joint is not 2-D, or if base is 1, 0 or negative.
    Source: Cover and Thomas, Elements of Information Theory (2006), section 2.3.
    """
    # TODO: take one of the equal forms: which probabilities does it need, and along which axes are they summed?
    # TODO: then make it robust: refuse what conditional_entropy refuses, or let it do so.
    raise NotImplementedError


def conditional_entropy(joint: Tensor, given: str = "y", base: float | None = None) -> Tensor:
    """H(x | y) = −Σ_xy p(x, y) log p(x | y), and H(y | x) with given="x".

    Args:
        given: the variable that is known, "y" or "x"; the others as in mutual_information.
    Returns and raises: as mutual_information, and ValueError if given is neither "x" nor "y".
    Source: Cover and Thomas, Elements of Information Theory (2006), section 2.2.
    """
    # TODO: compute the probabilities of the variable that is given.
    # TODO: sum −p(x, y) log p(x | y), and turn the natural logarithm into the one to `base`.
    # TODO: then make it robust: refuse a table that is not 2-D, an unknown `given`, and a base without a logarithm;
    # what are the value and the gradients at a cell, a row or a column of zeros?
    raise NotImplementedError
