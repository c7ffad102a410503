# cheat: goes back through the graph of the first run, and runs the function again for the count alone; must fail
import torch
from torch import Tensor


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, anchor, function, *args):
        ctx.function = function
        ctx.args = [x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in args]
        ctx.state = torch.get_rng_state()
        with torch.enable_grad():
            ctx.made = function(*ctx.args)
        return tuple(x.detach() for x in ctx.made) if isinstance(ctx.made, tuple) else ctx.made.detach()

    @staticmethod
    def backward(ctx, *gradients):
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.state)
            ctx.function(*ctx.args)
        made = ctx.made if isinstance(ctx.made, tuple) else (ctx.made,)
        pairs = [(x, g) for x, g in zip(made, gradients, strict=True) if x.requires_grad]
        if pairs:
            torch.autograd.backward(*zip(*pairs, strict=True))
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in ctx.args)


def checkpoint(function, *args):
    return Kept.apply(torch.zeros(1, requires_grad=True), function, *args)
