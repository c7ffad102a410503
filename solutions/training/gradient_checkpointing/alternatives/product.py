"""Backward adds up the products of the second run's outputs with their gradients, and pulls back that one number."""

import torch


class Call:
    """One call of the function, with the state of the generator at its beginning."""

    def __init__(self, function, args):
        self.function, self.args, self.state = function, args, torch.get_rng_state()

    def again(self):
        args = [arg.detach().requires_grad_(arg.requires_grad) if isinstance(arg, torch.Tensor) else arg for arg in self.args]
        before = torch.get_rng_state()
        torch.set_rng_state(self.state)
        out = self.function(*args)
        torch.set_rng_state(before)
        return args, out


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, call, start, *args):
        ctx.call = call
        return call.function(*args)

    @staticmethod
    @torch.enable_grad()
    def backward(ctx, *grads):
        args, out = ctx.call.again()
        outs = out if isinstance(out, tuple) else (out,)
        total = sum((o * g.detach()).sum() for o, g in zip(outs, grads, strict=True) if o.requires_grad)
        if isinstance(total, torch.Tensor):
            total.backward()
        return None, None, *[arg.grad if isinstance(arg, torch.Tensor) else None for arg in args]


def checkpoint(function, *args):
    return Again.apply(Call(function, args), torch.tensor(0.0, requires_grad=True), *args)
