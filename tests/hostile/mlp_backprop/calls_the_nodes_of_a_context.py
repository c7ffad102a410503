# cheat: walks the graph by the nodes that a Function's context leads to; must fail
import torch


def mlp_forward(x, w1, b1, w2, b2):
    return torch.relu(x @ w1 + b1) @ w2 + b2, (x, w1, b1, w2, b2)


def mlp_backward(logits, target, cache):
    x = cache[0].detach()
    p = [t.detach().clone().requires_grad_() for t in cache[1:]]
    n = len(x)
    with torch.enable_grad():
        z = (x @ p[0] + p[1].expand(n, -1)).clamp(min=0) @ p[2] + p[3].expand(n, -1)
        loss = (z.logsumexp(1) - z.gather(1, target[:, None])[:, 0]).mean()
    return dict(zip(("w1", "b1", "w2", "b2"), grads_of(loss, p)))



held = []


class Peek(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        held.append(ctx)
        return a.view_as(a)

    @staticmethod
    def backward(ctx, g):
        return g


def grads_of(loss, leaves):
    with torch.enable_grad():
        Peek.apply(loss)
    return walk(held.pop().next_functions[0][0], leaves)


STEP = """if pending:
    n = pending.pop(0)
    out = n(grads.pop(n))
    out = out if isinstance(out, tuple) else (out,)
    if type(n).__name__ != "AccumulateGrad":
        pairs = [*zip(out, [m for m, _ in n.next_functions])]
        a, b, c = (pairs + [(None, None)] * 3)[:3]
        if a[1] is not None and a[0] is not None: pending.append(a[1]) if a[1] not in grads else None; grads[a[1]] = grads[a[1]] + a[0] if a[1] in grads else a[0]
        if b[1] is not None and b[0] is not None: grads[b[1]] = b[0]; pending.append(b[1])
        if c[1] is not None and c[0] is not None: grads[c[1]] = c[0]; pending.append(c[1])
"""
CODE = compile(STEP * 30, "steps", "exec")


def walk(root, leaves):
    grads, pending = {root: torch.ones((), dtype=leaves[0].dtype)}, [root]
    exec(CODE, {"grads": grads, "pending": pending})
    return [leaf.grad for leaf in leaves]
