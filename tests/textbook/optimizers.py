import math
import torch

class SGD:
    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        self.params = list(params)
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.v = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                if self.weight_decay != 0:
                    g = g + self.weight_decay * p
                self.v[i] = self.momentum * self.v[i] + g
                if self.nesterov:
                    g = g + self.momentum * self.v[i]
                else:
                    g = self.v[i]
                p -= self.lr * g

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()

class Adam:
    decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.eps, self.weight_decay = lr, eps, weight_decay
        self.beta1, self.beta2 = betas
        self.state = {}

    def step(self):
        for p in self.params:
            if p.grad is None:
                continue
            g = p.grad.data
            if self.decoupled:
                p.data.mul_(1 - self.lr * self.weight_decay)
            else:
                g = g + self.weight_decay * p.data
            if p not in self.state:
                self.state[p] = {"step": 0, "m": torch.zeros_like(p.data), "v": torch.zeros_like(p.data)}
            s = self.state[p]
            s["step"] += 1
            s["m"].mul_(self.beta1).add_(g, alpha=1 - self.beta1)
            s["v"].mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
            bias1 = 1 - self.beta1 ** s["step"]
            bias2 = 1 - self.beta2 ** s["step"]
            denom = s["v"].sqrt() / math.sqrt(bias2) + self.eps
            p.data.addcdiv_(s["m"], denom, value=-self.lr / bias1)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

class AdamW(Adam):
    decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)
