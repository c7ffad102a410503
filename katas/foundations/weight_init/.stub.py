"""Xavier and Kaiming initialisation by hand. Statement: katas/foundations/weight_init/README.md."""

import math

import torch
from torch import Generator, Tensor


def xavier_uniform_(tensor: Tensor, generator: Generator | None = None) -> Tensor:
    """w ~ U(−a, a),  a = √(6 / (fan_in + fan_out))

    Args:
        tensor: (out, in, *kernel), floating; it is filled in its own memory.
        generator: where the random numbers come from; None for torch's global generator.
    Returns: the tensor itself.
    Source: Glorot and Bengio (2010), eq. 16. Our fan_in is their n_j, our fan_out their n_{j+1}.
    """
    # TODO: find the bound from the two fans.
    # TODO: fill the tensor from the right generator. What would autograd say if it was a parameter of a model?
    raise NotImplementedError


def xavier_normal_(tensor: Tensor, generator: Generator | None = None) -> Tensor:
    """w ~ N(0, σ²),  σ² = 2 / (fan_in + fan_out)

    Args, Returns: as for xavier_uniform_.
    Source: Glorot and Bengio (2010), eq. 12.
    """
    # TODO: compute from the two fans the number that torch's normal draws take.
    # TODO: fill the tensor, and return it.
    raise NotImplementedError


def kaiming_uniform_(tensor: Tensor, generator: Generator | None = None) -> Tensor:
    """w ~ U(−a, a),  a = √(6 / fan_in)

    Args, Returns: as for xavier_uniform_.
    Source: torch.nn.init.kaiming_uniform_ with nonlinearity="relu".
    """
    # TODO: find the bound for a network whose layers alternate with ReLUs.
    # TODO: fill the tensor, and return it.
    raise NotImplementedError


def kaiming_normal_(tensor: Tensor, generator: Generator | None = None) -> Tensor:
    """w ~ N(0, σ²),  σ² = 2 / fan_in

    Args, Returns: as for xavier_uniform_.
    Source: arXiv:1502.01852, eq. 10. Our fan_in is their n_l.
    """
    # TODO: compute the number that torch's normal draws take, for layers that alternate with ReLUs.
    # TODO: fill the tensor, and return it.
    raise NotImplementedError


def fans(tensor: Tensor) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight (out, in, *kernel), as the statement defines them."""
    # TODO: all four functions may share this one; it is not graded on its own.
    raise NotImplementedError
