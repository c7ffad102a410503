"""Cosine similarity by hand. Statement: katas/similarity/cosine_similarity/README.md."""

import torch
from torch import Tensor


def cosine_similarity(x: Tensor, y: Tensor, dim: int = -1, eps: float = 1e-8) -> Tensor:
    """cos(x, y) = ⟨x, y⟩ / (max(‖x‖, ε) · max(‖y‖, ε))

    Args:
        x, y: tensors that broadcast to one shape.
        dim: the axis of the broadcast shape that the vectors lie along.
        eps: the least value of each norm, so that a zero vector has similarity 0.
    Returns: the broadcast shape without `dim`, in the dtype of x.
    Source: torch.nn.functional.cosine_similarity.
    """
    # TODO: take the dot product and both norms along `dim`; where a norm is below eps, use eps in its place.
    # TODO: let x and y broadcast, so that `dim` means the same axis in both.
    # TODO: then make it robust: zero vectors, very short and very long ones, half precision.
    raise NotImplementedError
