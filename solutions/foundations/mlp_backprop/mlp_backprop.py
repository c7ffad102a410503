"""Backpropagation by hand through two linear layers. Statement: katas/foundations/mlp_backprop/README.md."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def mlp_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> tuple[Tensor, Any]:
    """z = relu(x w₁ + b₁) w₂ + b₂

    Args:
        x: (N, D), one row for each sample.
        w1, b1: (D, H) and (H,), the hidden layer.
        w2, b2: (H, C) and (C,), the output layer.
    Returns: the logits z, (N, C), in the dtype of x, and a cache: whatever mlp_backward needs besides.
    """
    # --- solution
    # TODO: compute the hidden layer, and the logits from it.
    # TODO: return the logits and a cache: what mlp_backward needs to know of this call, and of no other call.
    hidden = torch.relu(x @ w1 + b1)  # (N, H)
    logits = hidden @ w2 + b2  # (N, C)
    return logits, (x, hidden, w2)
    # --- end


def mlp_backward(logits: Tensor, target: Tensor, cache: Any) -> dict[str, Tensor]:
    """∂L/∂w₁, ∂L/∂b₁, ∂L/∂w₂ and ∂L/∂b₂ of the mean cross-entropy L = −1/N Σ_n log softmax(z_n)[y_n]

    Args:
        logits: (N, C), z as mlp_forward returned it.
        target: (N,) int64 class indices y, each in [0, C).
        cache: what mlp_forward returned with these logits; later calls may need it again.
    Returns: "w1", "b1", "w2" and "b2": one gradient for each parameter, in that parameter's shape and dtype.
    Source: Rumelhart, Hinton and Williams, doi:10.1038/323533a0, here with softmax and cross-entropy at the end.
    """
    # --- solution
    # TODO: find the gradient with respect to the logits.
    # TODO: take it back through the output layer, the ReLU and the hidden layer, one at a time.
    # TODO: return the gradients of the four parameters. Does each have the shape of its parameter?
    # TODO: then make it robust: logits far from 0, tiny activations, half precision.
    x, hidden, w2 = cache
    N, C = logits.shape
    d_logits = (torch.softmax(logits, dim=1) - F.one_hot(target, C)) / N  # (N, C)
    d_hidden = d_logits @ w2.mT  # (N, H)
    d_pre = d_hidden * (hidden > 0)  # (N, H), with respect to x w₁ + b₁
    return {
        "w1": x.mT @ d_pre,  # (D, H)
        "b1": d_pre.sum(dim=0),  # (H,)
        "w2": hidden.mT @ d_logits,  # (H, C)
        "b2": d_logits.sum(dim=0),  # (C,)
    }
    # --- end
