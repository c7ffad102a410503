"""What is checked of TensorParallelMLP."""

from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32


class Whole(torch.autograd.Function):
    """The MLP of one process that has all weights, which it gathers; of the gradients, each rank takes its part."""

    @staticmethod
    def forward(ctx: Any, group: Any, x: Tensor, *own: Tensor) -> Tensor:
        w1, b1, w2 = (group.all_gather(one) for one in own[:3])
        full = [torch.cat(w1), torch.cat(b1), torch.cat(w2, 1), own[3]]
        with torch.enable_grad():
            ctx.leaves = [one.detach().requires_grad_() for one in (x, *full)]
            x, one, bias, two, last = ctx.leaves
            ctx.y = F.linear(F.gelu(F.linear(x, one, bias)), two) + last
        ctx.group = group
        return ctx.y.detach()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        with torch.enable_grad():
            total = (ctx.y * grad).sum()
        dx, dw1, db1, dw2, dlast = torch.autograd.grad(total, ctx.leaves)
        W, r = ctx.group.world_size, ctx.group.rank
        return None, dx, dw1.chunk(W)[r], db1.chunk(W)[r], dw2.chunk(W, 1)[r], dlast


class WholeMLP(nn.Module):
    """What a right answer does, at any cost."""

    def __init__(self, group: Any, embed_dim: int, hidden_dim: int) -> None:
        super().__init__()
        assert hidden_dim % group.world_size == 0
        self.group = group
        self.fc1 = nn.Linear(embed_dim, hidden_dim // group.world_size)
        self.fc2 = nn.Linear(hidden_dim // group.world_size, embed_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = Whole.apply(self.group, x, self.fc1.weight, self.fc1.bias, self.fc2.weight, self.bias)
        return y


# Scenarios. Each rank takes its part of the weights: rows of w1 and b1, columns of w2.


def forward_and_backward(group, TensorParallelMLP, x, w1, b1, w2, bias, g):
    W, r = group.world_size, group.rank
    module = TensorParallelMLP(group, x.shape[-1], len(w1)).to(x.dtype)
    own = {"fc1.weight": w1.chunk(W)[r], "fc1.bias": b1.chunk(W)[r], "fc2.weight": w2.chunk(W, 1)[r], "bias": bias}
    module.load_state_dict(own)
    x = x.clone().requires_grad_()
    y = module(x)
    (y * g).sum().backward()
    grads = {f"gradient of {name}": one.grad for name, one in module.named_parameters()}
    return {"y": y.detach(), "gradient of x": x.grad, **dict(sorted(grads.items()))}


def two_layers(group, TensorParallelMLP, x, w1, b1, w2, bias, g):
    """One after the other, with the same weights."""
    W, r = group.world_size, group.rank
    own = {"fc1.weight": w1.chunk(W)[r], "fc1.bias": b1.chunk(W)[r], "fc2.weight": w2.chunk(W, 1)[r], "bias": bias}
    layers = nn.Sequential(*[TensorParallelMLP(group, x.shape[-1], len(w1)) for _ in range(2)]).to(x.dtype)
    for layer in layers:
        layer.load_state_dict(own)
    x = x.clone().requires_grad_()
    y = layers(x)
    (y * g).sum().backward()
    grads = {f"gradient of {name}": one.grad for name, one in layers.named_parameters()}
    return {"y": y.detach(), "gradient of x": x.grad, **dict(sorted(grads.items()))}


def two_forwards(group, TensorParallelMLP, x, w1, b1, w2, bias, g):
    """Before one backward; their gradients add up."""
    W, r = group.world_size, group.rank
    own = {"fc1.weight": w1.chunk(W)[r], "fc1.bias": b1.chunk(W)[r], "fc2.weight": w2.chunk(W, 1)[r], "bias": bias}
    module = TensorParallelMLP(group, x.shape[-1], len(w1)).to(x.dtype)
    module.load_state_dict(own)
    one, other = x.clone().requires_grad_(), (x * 2 - 1).requires_grad_()
    (module(one) * module(other) * g).sum().backward()
    grads = {f"gradient of {name}": one.grad for name, one in module.named_parameters()}
    return {"gradient of x": one.grad, "of the other": other.grad, **dict(sorted(grads.items()))}


def modes(group, TensorParallelMLP, x, w1, b1, w2, bias):
    """Without gradients, in eval mode, and as a deep copy."""
    W, r = group.world_size, group.rank
    own = {"fc1.weight": w1.chunk(W)[r], "fc1.bias": b1.chunk(W)[r], "fc2.weight": w2.chunk(W, 1)[r], "bias": bias}
    module = TensorParallelMLP(group, x.shape[-1], len(w1)).to(x.dtype)
    module.load_state_dict(own)
    with torch.no_grad():
        found = {"under no_grad": module(x)}
    found["in eval mode"] = module.eval()(x).detach()
    weights = {name: one + 1 for name, one in own.items()}
    found["with other weights"] = torch.func.functional_call(module, weights, (x,)).detach()
    return found


def made(group, TensorParallelMLP, embed_dim, hidden_dim):
    module = TensorParallelMLP(group, embed_dim, hidden_dim)
    return {name: [*one.shape] for name, one in sorted(module.named_parameters())}


def counted(group, spent, TensorParallelMLP, x, w1, b1, w2, bias, g):
    W, r = group.world_size, group.rank
    own = {"fc1.weight": w1.chunk(W)[r], "fc1.bias": b1.chunk(W)[r], "fc2.weight": w2.chunk(W, 1)[r], "bias": bias}
    module = TensorParallelMLP(group, x.shape[-1], len(w1)).to(x.dtype)
    module.load_state_dict(own)
    spent()  # counts from here on
    y = module(x)
    found = {"forward, x without grad": spent()}
    (y * g).sum().backward()
    found["backward, x without grad"] = spent()
    own_x = x.clone().requires_grad_()
    spent()
    y = module(own_x)
    found["forward"] = spent()
    (y * g).sum().backward()
    found["backward"] = spent()
    return found


# Inputs


def mlp(draw: Draw, world: int, rows: tuple[int, ...] = (3,), dim: int = 0, each: int = 0, g: bool = True) -> Arguments:
    """`each` is the number of hidden units of a rank."""
    D, H = dim or draw.size(2, 6), world * (each or draw.size(2, 4))
    made: Arguments = {
        "x": draw.normal(*rows, D),
        "w1": draw.normal(H, D),
        "b1": draw.normal(H),
        "w2": draw.normal(D, H) / H**0.5,
        "bias": draw.normal(D),
        "ranks": comm.turns(draw, world),
    }
    return made | ({"g": draw.normal(*rows, D)} if g else {})


def on(*worlds: int, **options: Any) -> Inputs:
    return lambda draw: [mlp(draw, world, **options) for world in worlds]


def any_axes(draw: Draw) -> list[Arguments]:
    shapes = ((), (draw.size(2, 3), draw.size(2, 4)), (2, 1, 3), (1,))
    return [mlp(draw, world, rows) for world, rows in zip((2, 3, 4, 2), shapes, strict=True)]


def constructed(draw: Draw) -> list[Arguments]:
    sizes = [(world, draw.size(2, 9), world * draw.size(1, 6)) for world in (2, 4, 1)]
    return [{"embed_dim": D, "hidden_dim": H, "ranks": comm.turns(draw, world)} for world, D, H in sizes]


def not_divisible(draw: Draw) -> list[Arguments]:
    return [
        {
            "embed_dim": draw.size(2, 9),
            "hidden_dim": world * draw.size(1, 5) + draw.size(1, world - 1),
            "ranks": comm.turns(draw, world),
        }
        for world in (2, 3, 8)
    ] + [{"embed_dim": draw.size(2, 9), "hidden_dim": 3, "ranks": comm.turns(draw, 4)}]


# Tests


def collectives(result: dict[str, dict[str, comm.Spent]]) -> dict[str, Any]:
    """Of each phase, what every rank called, with the numbers that it gave, and the most bytes that a rank held."""
    phases = next(iter(result.values()))
    return {
        phase: [[row[0], row[2]] for own in result.values() for row in own[phase]["did"] if row[0] != "wait"]
        for phase in phases
    } | {f"peak of {phase}": max(own[phase]["peak"] for own in result.values()) for phase in phases}


@pytest.mark.performance
def test_all_reduces(submission: Submission, draw: Draw) -> None:
    for world in (2, 4):
        given = mlp(draw, world, (draw.size(3, 9), 5), 6)
        found = submission.run(counted, summary=collectives, **given)
        numbers = given["x"].numel()
        wanted = {
            "forward, x without grad": [["all_reduce", numbers]] * world,
            "backward, x without grad": [],
            "forward": [["all_reduce", numbers]] * world,
            "backward": [["all_reduce", numbers]] * world,
        }
        for phase, right in wanted.items():
            if found[phase] != right:
                got = ", ".join(
                    f"{what} of {count} numbers" for what, count in found[phase][: len(found[phase]) // world]
                )
                should = f"one all_reduce of {numbers} numbers" if right else "none"
                raise CheckFailed(f"collectives of a rank in {phase}: should be {should}, got {got or 'none'}")


@pytest.mark.performance
def test_hidden_memory(submission: Submission, draw: Draw) -> None:
    """At most ten times a rank's hidden activations, and twelve times x. All ranks have eight times as many."""
    world, rows, dim, each = 8, 64, 4, 128
    found = submission.run(counted, summary=collectives, **mlp(draw, world, (rows,), dim, each))
    most = (10 * rows * each + 12 * rows * dim) * 4 + 8192
    problem = comm.at_most("bytes that a rank holds in forward", found["peak of forward"], most)
    if problem:
        raise CheckFailed(problem)


case = partial(Case, scenario=forward_and_backward)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class TensorParallelMLP(comm, embed_dim, hidden_dim)",
            methods=("forward(x)",),
            oracle=WholeMLP,
            half=False,
            records=True,
            cases=(
                case("two_ranks", on(2)),
                case("more_ranks", on(3, 4, 8)),
                case("one_rank", on(1)),
                case("any_axes", any_axes),
                Case("parameters", constructed, scenario=made),
                Case("two_layers", on(2, 4), scenario=two_layers),
                Case("two_forwards", on(2, 3), scenario=two_forwards, core=False),
                robust("modes", on(2, 4, g=False), scenario=modes),
                Case("not_divisible", not_divisible, scenario=made, raises=ValueError),
            ),
        ),
    ),
)
