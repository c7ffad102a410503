"""AdamW first, and Adam as an AdamW whose decay is in the gradient; the powers of the betas are kept as products."""

import torch
from torch import nn


class SGD(nn.Module):
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        super().__init__()
        self.trained = [p for p in params]
        self.lr, self.mu, self.decay, self.nesterov = lr, momentum, weight_decay, nesterov
        bad = [name for name, x in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)) if x < 0]
        if bad or not self.trained or (nesterov and not momentum):
            raise ValueError(f"bad arguments: {bad}")
        self.velocity = {}

    @torch.no_grad()
    def step(self):
        for number, p in enumerate(self.trained):
            if p.grad is None:
                continue
            g = torch.add(p.grad, p, alpha=self.decay)
            if number not in self.velocity:
                self.velocity[number] = torch.clone(g)
            else:
                self.velocity[number].mul_(self.mu).add_(g)
            p.add_(g + self.mu * self.velocity[number] if self.nesterov else self.velocity[number], alpha=-self.lr)

    def zero_grad(self):
        for p in self.trained:
            p.grad = None


class AdamW:
    l2 = 0.0

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.trained = [*params]
        if not self.trained or lr < 0 or eps < 0 or weight_decay < 0 or min(betas) < 0 or max(betas) >= 1:
            raise ValueError("bad arguments")
        self.lr, (self.b1, self.b2), self.eps, self.decay = lr, betas, eps, weight_decay
        self.state = [[torch.zeros_like(p), torch.zeros_like(p), 1.0, 1.0] for p in self.trained]

    def step(self):
        for p, state in zip(self.trained, self.state, strict=True):
            if p.grad is not None:
                self.one(p.detach(), p.grad.detach(), state)

    def one(self, p, g, state):
        m, v, power1, power2 = state
        g = g + self.l2 * p
        m.lerp_(g, 1 - self.b1)
        v.lerp_(g * g, 1 - self.b2)
        state[2:] = [power1 * self.b1, power2 * self.b2]
        p *= 1 - self.lr * self.decay
        p.addcdiv_(m / (1 - state[2]), (v / (1 - state[3])).sqrt().add_(self.eps), value=-self.lr)

    def zero_grad(self):
        for p in self.trained:
            if p.grad is not None:
                p.grad.detach().zero_()


class Adam(AdamW):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, betas, eps, weight_decay)
        self.l2, self.decay = self.decay, 0.0
