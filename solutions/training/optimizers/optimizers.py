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
        # --- solution
        # TODO: keep the parameters, the options, and a place for each parameter's buffer b.
        # TODO: then make it robust: read params once; refuse options that are out of range.
        self.params = list(params)  # a generator can be read only once
        if not self.params:
            raise ValueError("params should hold at least one tensor, got none")
        if lr < 0 or momentum < 0 or weight_decay < 0:
            raise ValueError(f"lr, momentum, weight_decay should be at least 0, got {lr}, {momentum}, {weight_decay}")
        if nesterov and momentum == 0:
            raise ValueError("momentum should be above 0 for nesterov, got 0")
        self.lr, self.momentum, self.weight_decay, self.nesterov = lr, momentum, weight_decay, nesterov
        self.buffers: list[Tensor | None] = [None] * len(self.params)
        # --- end

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, in its own memory; its .grad stays as it is."""
        # --- solution
        # TODO: for each parameter with a gradient, find g, update its buffer, and move the parameter in place.
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = p.grad + self.weight_decay * p  # a new tensor
            b = self.buffers[i]
            b = g if b is None else self.momentum * b + g
            self.buffers[i] = b
            p -= self.lr * (g + self.momentum * b if self.nesterov else b)
        # --- end

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # --- solution
        # TODO: forget the gradients.
        for p in self.params:
            p.grad = None
        # --- end


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
        # --- solution
        # TODO: keep the parameters, the options, and m, v and t of each parameter.
        # TODO: then make it robust, as in SGD.
        self.params = [*params]
        if not self.params:
            raise ValueError("params should hold at least one tensor, got none")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError(f"lr, eps and weight_decay should be at least 0, got {lr}, {eps} and {weight_decay}")
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas should be at least 0 and below 1, got {betas}")
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]
        self.t = [0] * len(self.params)
        # --- end

    @torch.no_grad()
    def step(self) -> None:
        """Moves each parameter that has a gradient, and counts the step for it; its .grad stays as it is."""
        # --- solution
        # TODO: for each parameter with a gradient, update t, m and v.
        # TODO: correct both moments for their start at 0, and move the parameter in place.
        beta1, beta2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            m, v = self.m[i], self.v[i]
            grad = p.grad + self.weight_decay * p
            self.t[i] += 1
            m.mul_(beta1).add_((1 - beta1) * grad)
            v.mul_(beta2).add_((1 - beta2) * grad.square())
            m_hat = m / (1 - beta1 ** self.t[i])
            v_hat = v / (1 - beta2 ** self.t[i])
            p -= self.lr * m_hat / (v_hat.sqrt() + self.eps)
        # --- end

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # --- solution
        # TODO: forget the gradients.
        for parameter in self.params:
            parameter.grad = None
        # --- end


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
        # --- solution
        # TODO: as in Adam. What of Adam can you use again?
        if weight_decay < 0:
            raise ValueError(f"weight_decay should be at least 0, got {weight_decay}")
        self.adam = Adam(params, lr, betas, eps)
        self.lr, self.decay = lr, weight_decay
        # --- end

    @torch.no_grad()
    def step(self) -> None:
        """Shrinks each parameter that has a gradient, then moves it as Adam does."""
        # --- solution
        # TODO: shrink the parameters that have a gradient, in place, and then take Adam's step.
        for p in self.adam.params:
            if p.grad is not None:
                p.mul_(1 - self.lr * self.decay)
        self.adam.lr = self.lr
        self.adam.step()
        # --- end

    def zero_grad(self) -> None:
        """Sets each .grad to None, or to zeros."""
        # --- solution
        # TODO: forget the gradients.
        self.adam.zero_grad()
        # --- end
