"""A base class walks over the parameters and keeps a dict of state for each."""

import torch


class Optimizer:
    def __init__(self, params, lr, *numbers):
        self.params = tuple(params)
        assert self.params, "no parameters"
        assert min(lr, *numbers) >= 0, "negative"
        self.lr = lr
        self.states = [{} for _ in self.params]

    def step(self):
        with torch.no_grad():
            for p, state in zip(self.params, self.states, strict=True):
                if p.grad is not None:
                    p.copy_(self.moved(p, p.grad.clone(), state))

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = torch.zeros_like(p.grad)


class SGD(Optimizer):
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(params, lr, momentum, weight_decay)
        assert momentum > 0 or not nesterov
        self.rule = (momentum, weight_decay, nesterov)

    def moved(self, p, g, state):
        momentum, weight_decay, nesterov = self.rule
        g = g.add(p, alpha=weight_decay)
        state["b"] = g + momentum * state.get("b", 0)
        return p.sub(g.add(state["b"], alpha=momentum) if nesterov else state["b"], alpha=self.lr)


class Adam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, eps, weight_decay)
        assert all(beta >= 0 and beta < 1 for beta in betas)
        self.rule = (*betas, eps, weight_decay)

    def moved(self, p, g, state, l2=True):
        b1, b2, eps, weight_decay = self.rule
        g = g + weight_decay * p * l2
        for name, b, new in (("m", b1, g), ("v", b2, g**2)):
            old, size = state.get(name, (0, 0))
            state[name] = (b * old + (1 - b) * new, b * size + 1 - b)  # the weights add up to 1 − bᵗ
        m, v = (total / size for total, size in (state["m"], state["v"]))
        return p - self.lr * m / (v**0.5 + eps)


class AdamW(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)

    def moved(self, p, g, state, l2=False):
        return super().moved(p * (1 - self.lr * self.rule[-1]), g, state, l2)
