"""Hinge loss by hand. Statement: katas/margins/hinge_loss/README.md."""

from torch import Tensor


def hinge_loss(scores: Tensor, y: Tensor) -> Tensor:
    """L = 1/N Σ_n max(0, 1 − y_n s_n)

    Args:
        scores: (N,).
        y: (N,), each 1 or -1.
    Returns: a scalar, in the dtype of scores.
    Raises: ValueError if the shapes differ.
    """
    # --- solution
    # TODO: refuse shapes that differ.
    # TODO: average what each score lacks to the margin.
    if scores.shape != y.shape:
        raise ValueError(f"scores and y should have one shape, got {tuple(scores.shape)} and {tuple(y.shape)}")
    return (1 - y * scores).clamp(min=0).mean()
    # --- end
