"""An eps of 1e-8 under every root, norms and distances alike; a table of distances, a table of reductions."""

import torch
from torch import Tensor

EPS = 1e-8


def _root(squares: Tensor) -> Tensor:
    return (squares.sum(-1) + EPS).sqrt()


DISTANCES = {
    "euclidean": lambda a, b: _root((a - b) * (a - b)),
    "cosine": lambda a, b: 1.0 - (a * b).sum(-1) / (_root(a * a) * _root(b * b)),
}
REDUCTIONS = {"mean": torch.mean, "sum": torch.sum, "none": lambda losses: losses}


def triplet_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    distance: str = "euclidean",
    reduction: str = "mean",
) -> Tensor:
    """Hinge on the difference of two distances."""
    if distance not in DISTANCES:
        raise ValueError(f"unknown distance {distance}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"unknown reduction {reduction}")
    if margin < 0:
        raise ValueError("the margin must not be negative")
    if len({anchor.shape, positive.shape, negative.shape}) > 1:
        raise ValueError("the shapes differ")
    between = DISTANCES[distance]
    return REDUCTIONS[reduction](torch.clamp(between(anchor, positive) - between(anchor, negative) + margin, min=0.0))
