"""Layers with forward and backward, chained; wider inside for half precision."""

import torch


class Normalise:
    def forward(self, x):
        self.norm = x.pow(2).sum(1, keepdim=True).sqrt()
        self.out = x / self.norm
        return self.out

    def backward(self, g):
        return g / self.norm - self.out * (g * self.out).sum(1, keepdim=True) / self.norm


class Cosines:
    def __init__(self, tau):
        self.tau = tau

    def forward(self, u):
        self.u = u
        return u @ u.t() / self.tau

    def backward(self, g):
        return (g + g.t()) @ self.u / self.tau


class Loss:
    def forward(self, z):
        i = torch.arange(len(z), device=z.device)
        self.pos = ((i + len(z) // 2) % len(z))[:, None]
        keep = i[:, None] != i
        z = torch.where(keep, z, torch.finfo(z.dtype).min)
        top = z.max(1, keepdim=True).values
        e = torch.where(keep, (z - top).exp(), 0)
        self.p = e / e.sum(1, keepdim=True)
        return (e.sum(1, keepdim=True).log() + top - z.gather(1, self.pos)).mean()

    def backward(self):
        return self.p.scatter_add(1, self.pos, -torch.ones_like(self.p[:, :1])) / len(self.p)


def info_nce_grad(features, temperature=0.1):
    if features.dim() != 2 or len(features) % 2 != 0 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    x = features.float() if features.dtype in (torch.float16, torch.bfloat16) else features
    layers, head = [Normalise(), Cosines(temperature)], Loss()
    for layer in layers:
        x = layer.forward(x)
    loss, g = head.forward(x), head.backward()
    for layer in reversed(layers):
        g = layer.backward(g)
    return loss.to(features.dtype), g.to(features.dtype)
