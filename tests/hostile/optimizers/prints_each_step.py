# honest: prints what it does, and returns the parameters; must pass
import math

import torch


class SGD:
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        self.params, self.lr, self.options, self.velocity = list(params), lr, (momentum, weight_decay, nesterov), {}
        if not self.params or lr < 0 or momentum < 0 or weight_decay < 0 or (nesterov and momentum <= 0):
            raise ValueError("invalid argument")

    def step(self):
        print("step at", self.lr)
        momentum, weight_decay, nesterov = self.options
        for p in [p for p in self.params if p.grad is not None]:
            g = p.grad.data.clone()
            if weight_decay != 0:
                g.add_(p.data, alpha=weight_decay)
            if momentum != 0:
                v = self.velocity[p] = self.velocity.get(p, torch.zeros_like(p.data)).mul(momentum).add(g)
                g = g.add(v, alpha=momentum) if nesterov else v
            p.data.sub_(g, alpha=self.lr)

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.data.zero_()


class Adam(SGD):
    decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, 0.0, weight_decay)
        if eps < 0 or not 0 <= betas[0] < 1 or not 0 <= betas[1] < 1:
            raise ValueError("invalid argument")
        self.betas, self.eps, self.weight_decay, self.state = betas, eps, weight_decay, {}

    def step(self):
        for p in [p for p in self.params if p.grad is not None]:
            if self.decoupled:
                p.data.mul_(1 - self.lr * self.weight_decay)
            g = p.grad.data if self.decoupled else p.grad.data + self.weight_decay * p.data
            t, m, v = self.state.get(p, (0, torch.zeros_like(p.data), torch.zeros_like(p.data)))
            self.state[p] = t + 1, m, v
            m.mul_(self.betas[0]).add_(g, alpha=1 - self.betas[0])
            v.mul_(self.betas[1]).addcmul_(g, g, value=1 - self.betas[1])
            first, second = (1 - beta ** (t + 1) for beta in self.betas)
            p.data.addcdiv_(m, v.sqrt().div_(math.sqrt(second)).add_(self.eps), value=-self.lr / first)


class AdamW(Adam):
    decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)
