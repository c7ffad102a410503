"""A generator for each parameter, whose local names are its state; it is sent the rate, and yields what to subtract."""

import torch


def heavy_ball(p, mu, decay, nesterov):
    b, direction = torch.zeros_like(p), None
    while True:
        lr = yield direction
        g = p.grad + decay * p.detach()
        b = mu * b + g
        direction = lr * (g + mu * b if nesterov else b)


def adaptive(p, betas, eps, l2, shrink):
    (b1, b2), m, v, t, direction = betas, 0, 0, 0, None
    while True:
        lr = yield direction
        w = p.detach()
        g, t = p.grad + l2 * w, t + 1
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g.pow(2)
        rate = lr / (1 - b1**t)
        direction = rate * m / ((v / (1 - b2**t)).sqrt() + eps) + lr * shrink * w


class Optimizer:
    def start(self, params, lr, rule, *options):
        self.lr, self.params = lr, list(params)
        self.rules = [rule(p, *options) for p in self.params]
        if lr < 0 or not self.rules:
            raise ValueError("lr should be at least 0, and params should not be empty")
        for rule in self.rules:
            next(rule)

    def step(self):
        for p, rule in zip(self.params, self.rules, strict=True):
            if p.grad is not None:
                p.data -= rule.send(self.lr)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


class SGD(Optimizer):
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        if momentum < 0 or weight_decay < 0 or (nesterov and momentum == 0):
            raise ValueError("momentum and weight_decay should be at least 0, and momentum above 0 for nesterov")
        self.start(params, lr, heavy_ball, momentum, weight_decay, nesterov)


class Adam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        self.prepare(params, lr, betas, eps, weight_decay, 0.0)

    def prepare(self, params, lr, betas, eps, l2, shrink):
        if eps < 0 or l2 < 0 or shrink < 0 or any(b < 0 or b >= 1 for b in betas):
            raise ValueError("an option is out of range")
        self.start(params, lr, adaptive, betas, eps, l2, shrink)


class AdamW(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.prepare(params, lr, betas, eps, 0.0, weight_decay)
