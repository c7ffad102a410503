"""Gradient descent by hand. Statement: katas/training/gradient_descent/README.md."""

from collections.abc import Callable

import torch
from torch import Tensor


def gradient_descent(loss_fn: Callable[..., Tensor], params: list[Tensor], lr: float, steps: int) -> list[float]:
    """θ ← θ − η ∇L(θ), `steps` times

    Args:
        loss_fn: (*params) -> the scalar loss L(θ), with a fresh graph at each call; it depends on every parameter.
        params: θ, one or more leaf tensors of any shape that require gradients; updated in their own memory.
        lr: η, the learning rate.
        steps: the number of updates, 0 or more.
    Returns: `steps` floats, the loss before each update.
    Source: torch.optim.SGD; Goodfellow et al., Deep Learning, eq. 4.5. Our η is their ε.
    """
    # --- solution
    # TODO: in each step, take the loss and its gradient for every parameter.
    # TODO: then move every parameter against its gradient, in place.
    # TODO: return the losses from before each step, as plain numbers.
    # TODO: then make it robust: a parameter may hold an old `.grad`, or be a part of a larger tensor.
    losses = []
    for _ in range(steps):
        for p in params:
            p.grad = None  # backward adds to what is there
        loss = loss_fn(*params)
        loss.backward()
        with torch.no_grad():
            for p in params:
                p -= lr * p.grad
        losses.append(loss.item())
    return losses
    # --- end


def linear_regression_gd(x: Tensor, y: Tensor, lr: float, steps: int) -> tuple[Tensor, Tensor]:
    """Gradient descent on L(w, b) = 1/N Σ_n (x_n · w + b − y_n)², from w = 0 and b = 0

    Args:
        x: (N, D), one sample a row.
        y: (N,), the targets.
        lr: the learning rate.
        steps: the number of updates, each with the gradient of all N rows.
    Returns: w (D,) and b (), without a graph, in the dtype of x.
    Source: as above; after many steps at a small enough lr, w and b are a least-squares solution.
    """
    # --- solution
    # TODO: start at zeros, in the dtype and on the device of x.
    # TODO: descend on the mean squared error of all rows.
    # TODO: return w and b without a graph.
    N, D = x.shape
    w = x.new_zeros(D, requires_grad=True)
    b = x.new_zeros((), requires_grad=True)

    def loss_fn(w: Tensor, b: Tensor) -> Tensor:
        residuals = x @ w + b - y  # (N,)
        return residuals.square().sum() / N

    gradient_descent(loss_fn, [w, b], lr, steps)
    return w.detach(), b.detach()
    # --- end
