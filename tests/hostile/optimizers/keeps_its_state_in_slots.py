# honest: has __slots__, and no __dict__; must pass
import torch


class _Optimizer:
    __slots__ = ("lr", "_params", "_state")

    def __init__(self, params, lr):
        self._params = [p for p in params if isinstance(p, torch.Tensor)]
        if not self._params:
            raise ValueError("params")
        if lr < 0:
            raise ValueError("lr")
        self.lr = lr
        self._state = {id(p): None for p in self._params}

    def zero_grad(self):
        for p in self._params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self._params:
            if p.grad is None:
                continue
            new, self._state[id(p)] = self.rule(p, p.grad, self._state[id(p)])
            p.copy_(new)


class SGD(_Optimizer):
    __slots__ = ("momentum", "weight_decay", "nesterov")

    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(params, lr)
        if momentum < 0 or weight_decay < 0 or (nesterov and not momentum > 0):
            raise ValueError("options")
        self.momentum, self.weight_decay, self.nesterov = momentum, weight_decay, nesterov

    def rule(self, p, g, b):
        g = g + self.weight_decay * p
        b = g if b is None else self.momentum * b + g
        return p - self.lr * (g + self.momentum * b if self.nesterov else b), b.clone()


class Adam(_Optimizer):
    __slots__ = ("betas", "eps", "weight_decay")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr)
        if eps < 0 or weight_decay < 0 or min(betas) < 0 or max(betas) >= 1:
            raise ValueError("options")
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay

    def rule(self, p, g, state):
        return self.move(p, g + self.weight_decay * p, state)

    def move(self, p, g, state):
        m, v, t = state or (0, 0, 0)
        b1, b2 = self.betas
        m, v, t = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2, t + 1
        return p - self.lr * (m / (1 - b1**t)) / (torch.sqrt(v / (1 - b2**t)) + self.eps), (m, v, t)


class AdamW(Adam):
    __slots__ = ()

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)

    def rule(self, p, g, state):
        return self.move(p * (1 - self.lr * self.weight_decay), g, state)
