"""Linear scan by hand. Statement: katas/foundations/linear_scan/README.md."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor


def associative_scan(op: Tensor, x: Tensor) -> Tensor:
    """TODO(author): the formula, in one line.

    Args:
        TODO(author): what each argument is, with its shape.
    Returns: TODO(author): shape and dtype.
    Raises: TODO(author): ValueError if …; or no such line.
    """
    # TODO(author): the steps that the stub shows, each as a comment that begins with "# TODO: ".
    raise NotImplementedError
