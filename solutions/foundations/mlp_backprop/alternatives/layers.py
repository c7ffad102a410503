"""Layer objects with forward and backward, made anew in each forward pass; the gradient of x comes along."""

import torch


class Linear:
    def __init__(self, name, weight, bias):
        self.name, self.weight, self.bias = name, weight, bias

    def forward(self, x):
        self.x = x
        return x @ self.weight + self.bias

    def backward(self, grad, grads):
        grads[f"w{self.name}"] = self.x.transpose(0, 1) @ grad
        grads[f"b{self.name}"] = torch.ones_like(grad[:, 0]) @ grad
        return grad @ self.weight.transpose(0, 1)


class ReLU:
    def forward(self, x):
        self.closed = x <= 0
        return x.masked_fill(self.closed, 0)

    def backward(self, grad, grads):
        return grad.masked_fill(self.closed, 0)


def mlp_forward(x, w1, b1, w2, b2):
    network = [Linear(1, w1, b1), ReLU(), Linear(2, w2, b2)]
    for layer in network:
        x = layer.forward(x)
    return x, network


def mlp_backward(logits, target, cache):
    e = torch.exp(logits - logits.max(dim=1, keepdim=True).values)
    p = e / e.sum(dim=1, keepdim=True)
    grad = p.scatter_add(1, target[:, None], -torch.ones_like(p[:, :1])) / target.numel()
    grads = {}
    for layer in reversed(cache):
        grad = layer.backward(grad, grads)
    return grads | {"x": grad}
