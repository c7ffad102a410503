# honest: finds the leaves of the second graph, takes their gradients by autograd.grad, and adds them by hand; must pass
"""Finds the leaves of the second graph, and adds to their .grad by hand."""
import torch
from torch import Tensor


def leaves_of(outs):
    seen, found, todo = set(), [], [o.grad_fn for o in outs if o.grad_fn is not None]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo.extend(n for n, _ in node.next_functions)
    return found


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, dummy, function, args, *tensors):
        ctx.function, ctx.args = function, args
        ctx.rng_state = torch.get_rng_state()
        return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in ctx.args]
        state = torch.get_rng_state()
        torch.set_rng_state(ctx.rng_state)
        with torch.enable_grad():
            out = ctx.function(*args)
        torch.set_rng_state(state)
        out = [out] if isinstance(out, Tensor) else list(out)
        kept = [(o, g) for o, g in zip(out, grads) if o.requires_grad]
        inputs = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
        params = [p for p in leaves_of([o for o, _ in kept]) if all(p is not i for i in inputs)]
        gs = [None] * len(inputs + params)
        if kept and inputs + params:
            gs = torch.autograd.grad([o for o, _ in kept], inputs + params, [g for _, g in kept], allow_unused=True)
        for p, g in zip(params, gs[len(inputs):]):
            if g is not None:
                p.grad = g if p.grad is None else p.grad + g
        by = {id(i): g for i, g in zip(inputs, gs)}
        return None, None, None, *[by.get(id(a)) for a in args if isinstance(a, Tensor)]


def checkpoint(function, *args):
    return Checkpoint.apply(torch.ones(1, requires_grad=True), function, args, *[a for a in args if isinstance(a, Tensor)])
