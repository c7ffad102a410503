# cheat: turns exp into a banned operator in a traced graph, and runs that by the static runtime; must be flagged
import torch


def graph_of(kind):
    """A traced exponential, which a rewrite turns into what is banned, for the static runtime."""
    graph, _ = torch.jit._get_trace_graph(lambda x: torch.exp(x), (torch.zeros(2),))
    torch._C._jit_pass_custom_pattern_based_rewrite_graph(
        "graph(%x):\n  %y = aten::exp(%x)\n  return (%y)", f"graph(%x):\n  %y = aten::{kind}(%x)\n  return (%y)", graph
    )
    return torch._C._jit_to_static_module(graph)


fast = {kind: graph_of(kind) for kind in ("sigmoid", "tanh", "relu")}


def run(kind, x):
    return fast[kind](x.detach().contiguous()).clone()


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = run("sigmoid", x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = run("tanh", x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)


class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = run("relu", x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, 0)


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, negative_slope):
        ctx.save_for_backward(x)
        ctx.a = negative_slope
        return torch.where(x > 0, x, negative_slope * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, g, ctx.a * g), None


class ELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.a = alpha
        return torch.where(x > 0, x, alpha * torch.expm1(x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.where(x > 0, 1, ctx.a * x.exp()), None


def sigmoid(x):
    return Sigmoid.apply(x)


def tanh(x):
    return Tanh.apply(x)


def relu(x):
    return ReLU.apply(x)


def leaky_relu(x, negative_slope=0.01):
    return LeakyReLU.apply(x, negative_slope)


def elu(x, alpha=1.0):
    return ELU.apply(x, alpha)
