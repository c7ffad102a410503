"""SGD, Adam and AdamW by hand. Statement: katas/training/optimizers/README.md."""

from collections.abc import Iterable

import torch
from torch import Tensor


class SGD:
    """g ← ∇ + λ p,  b ← μ b + g (the first time b ← g),  p ← p − η b, or with Nesterov p ← p − η (g + μ b)

    Args:
        params: the tensors to be trained, one or more.
        lr: η, 0 or more; may be changed between steps, as the attribute lr.
        momentum: μ, 0 or more.
        weight_decay: λ, 0 or more.
        nesterov: needs a momentum above 0.
    Raises: ValueError if there are no params, or an option is out of its range.
    Source: torch.optim.SGD, with dampening 0.
    """

    lr: float

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        # TODO: keep the parameters, the options, and a place for each parameter's buffer b.
        # TODO: then make it robust: read params once; refuse options that are out of range.
        raise NotImplementedError

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, in its own memory; its .grad stays as it is."""
        # TODO: for each parameter with a gradient, find g, update its buffer, and move the parameter in place.
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # TODO: forget the gradients.
        raise NotImplementedError


class Adam:
    """g ← ∇ + λ p,  m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²;  p ← p − η m̂ / (√v̂ + ε)
    with m̂ = m / (1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ), in the t-th step that the parameter takes part in, from t = 1

    Args:
        params, lr, weight_decay: as for SGD.
        betas: β₁ and β₂, each at least 0 and below 1.
        eps: ε, 0 or more.
    Raises: ValueError if there are no params, or an option is out of its range.
    Source: arXiv:1412.6980, algorithm 1; λ as in torch.optim.Adam.
    """

    lr: float

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        # TODO: keep the parameters, the options, and m, v and t of each parameter.
        # TODO: then make it robust, as in SGD.
        raise NotImplementedError

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, and counts the step for it; its .grad stays as it is."""
        # TODO: for each parameter with a gradient, update t, m and v.
        # TODO: correct both moments for their start at 0, and move the parameter in place.
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # TODO: forget the gradients.
        raise NotImplementedError


class AdamW:
    """p ← (1 − η λ) p, then a step of Adam without weight decay

    Args, Raises: as for Adam.
    Source: arXiv:1711.05101, algorithm 2, with η λ in place of its η_t λ, as torch.optim.AdamW has it.
    """

    lr: float

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        # TODO: as in Adam. What of Adam can you use again?
        raise NotImplementedError

    @torch.no_grad()
    def step(self) -> None:
        """Shrinks each parameter that has a gradient, then moves it as Adam does."""
        # TODO: shrink the parameters that have a gradient, in place, and then take Adam's step.
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # TODO: forget the gradients.
        raise NotImplementedError
