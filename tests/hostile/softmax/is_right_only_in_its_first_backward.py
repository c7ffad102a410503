# cheat: a Function whose backward gives the right gradient once, and its half from then on; must fail
import torch


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        e = (x - x.amax(dim, keepdim=True)).exp()
        p = e / e.sum(dim, keepdim=True)
        ctx.save_for_backward(p)
        ctx.dim, ctx.calls = dim, 0
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        ctx.calls += 1
        return p * (g - (g * p).sum(ctx.dim, keepdim=True)) / min(ctx.calls, 2), None


def softmax(x, dim=-1):
    return Softmax.apply(x, dim)


def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
