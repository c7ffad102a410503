"""Regression losses by hand. Statement: katas/losses/regression_losses/README.md."""

import torch
from torch import Tensor


def mse(pred: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """l = (p − t)²

    Args, as in the losses below:
        pred, target: p and t, of one shape.
        reduction: "mean" or "sum" over all numbers, or "none".
    Returns: a scalar, or the shape of pred for "none"; in the dtype of pred.
    Raises: ValueError if the shapes differ, or reduction is unknown.
    Source: torch.nn.functional.mse_loss.
    """
    # TODO: find the errors, square them, and reduce; the two helpers at the end are for all four losses.
    raise NotImplementedError


def mae(pred: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """l = |p − t|. Source: torch.nn.functional.l1_loss."""
    # TODO: take absolute values. What is the gradient where an error is exactly 0?
    raise NotImplementedError


def huber(pred: Tensor, target: Tensor, delta: float = 1.0, reduction: str = "mean") -> Tensor:
    """l = ½ (p − t)² where |p − t| ≤ δ, and δ (|p − t| − ½ δ) elsewhere. Source: torch.nn.functional.huber_loss.

    Raises: also ValueError if delta is not positive.
    """
    # TODO: find both parts, and choose between them for each number.
    # TODO: then make it robust: refuse a bad delta. What if a square does not fit the dtype?
    raise NotImplementedError


def mape(pred: Tensor, target: Tensor, eps: float = 1e-8, reduction: str = "mean") -> Tensor:
    """l = 100 |p − t| / max(|t|, ε). Source: sklearn.metrics.mean_absolute_percentage_error, times 100."""
    # TODO: find what each error is divided by, and put the formula together.
    raise NotImplementedError


def errors(pred: Tensor, target: Tensor) -> Tensor:
    # TODO: return p − t. This is not graded on its own.
    # TODO: then make it robust: raise ValueError where the shapes differ.
    raise NotImplementedError


def reduce(losses: Tensor, reduction: str) -> Tensor:
    # TODO: the mean, the sum, or the losses as they are. Not graded on its own, either.
    # TODO: then make it robust: ValueError for any other word.
    raise NotImplementedError
