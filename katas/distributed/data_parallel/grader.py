"""What is checked of DataParallel."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32
DIM, LAYERS = 6, 4  # of the network whose costs are counted


class PlainDataParallel(nn.Module):
    """What a right answer does, after backward."""

    def __init__(self, group: Any, module: nn.Module) -> None:
        super().__init__()
        self.group, self.module = group, module
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.data.copy_(group.broadcast(tensor.data, 0))

    def forward(self, *args: Any) -> Any:
        return self.module(*args)

    def finish(self) -> None:
        for parameter in (one for one in self.module.parameters() if one.requires_grad):
            own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = self.group.all_reduce(own) / self.group.world_size


# Scenarios. Each rank makes a network of other numbers, and has its own rows: x is (W, N, D).


def one_step(group, DataParallel, seed, x, hidden):
    torch.manual_seed(seed + group.rank)
    layers = nn.Linear(x.shape[-1], hidden), nn.Tanh(), nn.Linear(hidden, 2)
    module = nn.Sequential(*layers).to(x.dtype)
    parallel = DataParallel(group, module)
    y = parallel(x[group.rank])
    y.square().mean().backward()
    parallel.finish()
    return {"y": y.detach()} | {f"gradient of {name}": p.grad for name, p in module.named_parameters()}


def filled(group, DataParallel, seed, x):
    """Views that were made before see what was filled in; a frozen parameter and all buffers count."""
    torch.manual_seed(seed + group.rank)
    module = nn.Sequential(nn.Linear(x.shape[-1], 4), nn.BatchNorm1d(4), nn.Linear(4, 2).requires_grad_(False))
    module.register_buffer("steps", torch.tensor(group.rank + 5))
    module.register_buffer("mask", torch.tensor([group.rank % 2 == 0, True]), persistent=False)
    module = module.to(x.dtype)
    module(x[group.rank])  # the running means differ
    held = dict(module.named_parameters()) | dict(module.named_buffers())
    views = {name: one.detach() for name, one in held.items()}
    parallel = DataParallel(group, module)
    now = dict(module.named_parameters()) | dict(module.named_buffers())
    return {
        **views,
        "the same objects": all(now[name] is one for name, one in held.items()),
        "y": parallel(x[0]).detach(),
    }


def branches(group, DataParallel, seed, x):
    """Rank 0 goes through other layers than the rest, one layer is used by nobody, and one bias is frozen."""

    class Network(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.entry, self.left, self.right, self.unused = (nn.Linear(dim, dim) for _ in range(4))
            self.entry.bias.requires_grad_(False)

        def forward(self, x, goes_left):
            x = self.entry(x).tanh()
            return self.left(x) if goes_left else self.right(x)

    torch.manual_seed(seed + group.rank)
    module = Network(x.shape[-1]).to(x.dtype)
    parallel = DataParallel(group, module)
    parallel(x[group.rank], group.rank == 0).square().sum().backward()
    parallel.finish()
    grads = {name: p.grad if p.grad is not None else torch.zeros_like(p) for name, p in module.named_parameters()}
    return {f"gradient of {name} (None is 0)": grad for name, grad in grads.items()}


def another_order(group, DataParallel, seed, x):
    """Ranks use layers of one shape in another order each."""

    class Network(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(3))

        def forward(self, x, first):
            for k in range(3):
                x = self.layers[(first + k) % 3](x).tanh()
            return x

    torch.manual_seed(seed + group.rank)
    module = Network(x.shape[-1]).to(x.dtype)
    parallel = DataParallel(group, module)
    parallel(x[group.rank], group.rank).sum().backward()
    parallel.finish()
    return {f"gradient of {name}": p.grad for name, p in module.named_parameters()}


def tied(group, DataParallel, seed, x):
    """One weight in two layers, of which one is used twice."""

    class Network(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.one, self.other = nn.Linear(dim, dim), nn.Linear(dim, dim)
            self.other.weight = self.one.weight

        def forward(self, x):
            return self.other(self.one(self.one(x).tanh()).tanh())

    torch.manual_seed(seed + group.rank)
    module = Network(x.shape[-1]).to(x.dtype)
    parallel = DataParallel(group, module)
    parallel(x[group.rank]).square().sum().backward()
    parallel.finish()
    return {"one weight": module.other.weight is module.one.weight} | {
        f"gradient of {name}": p.grad for name, p in module.named_parameters()
    }


def three_steps(group, DataParallel, seed, x):
    """Of training: gradients are set to None or to 0, and the network is also called without gradients."""
    torch.manual_seed(seed + group.rank)
    module = nn.Sequential(nn.Linear(x.shape[-1], 4), nn.Tanh(), nn.Linear(4, 1)).to(x.dtype)
    parallel = DataParallel(group, module)
    found = {}
    for step in range(3):
        (parallel(x[group.rank]) - step).square().mean().backward()
        parallel.finish()
        with torch.no_grad():
            for p in module.parameters():
                p -= 0.1 * p.grad
                p.grad = None if step else torch.zeros_like(p)
            found[f"y after step {step + 1}"] = parallel(x[0])
    return found | {name: p.detach() for name, p in module.named_parameters()}


def two_forwards(group, DataParallel, seed, x):
    """Before one backward."""
    torch.manual_seed(seed + group.rank)
    module = nn.Sequential(nn.Linear(x.shape[-1], 4), nn.Tanh(), nn.Linear(4, 2)).to(x.dtype)
    parallel = DataParallel(group, module)
    (parallel(x[group.rank]) * parallel(x[group.rank] + 1)).sum().backward()
    parallel.finish()
    return {f"gradient of {name}": p.grad for name, p in module.named_parameters()}


def hooks_stay(group, DataParallel, seed, x):
    """How many hooks the parameters have got since the first step, after two more."""
    torch.manual_seed(seed + group.rank)
    module = nn.Sequential(nn.Linear(x.shape[-1], 4), nn.Tanh(), nn.Linear(4, 1)).to(x.dtype)
    parallel = DataParallel(group, module)
    found = []
    for _ in range(3):
        parallel(x[group.rank]).sum().backward()
        with torch.no_grad():
            parallel(x[0])
        parallel.finish()
        each = [(p._backward_hooks, p._post_accumulate_grad_hooks) for p in module.parameters()]
        found.append(sum(len(one or ()) for both in each for one in both))
    return {"hooks that were added after the first step": found[-1] - found[0]} | {
        f"gradient of {name}": p.grad for name, p in module.named_parameters()
    }


def counted(group, spent, DataParallel, seed, x, layers):
    """What a rank does until backward reaches the first layer's output, until it ends, and in finish."""
    found = {}

    class Mark(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            found["until the first layer"] = spent()
            return grad

    class Network(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.first = nn.Linear(dim, dim)
            self.rest = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(layers - 1)])
            self.rest[0].bias.requires_grad_(False)
            self.rest[-1].weight = self.rest[-2].weight

        def forward(self, x):
            return self.rest(Mark.apply(self.first(x)))

    torch.manual_seed(seed + group.rank)
    parallel = DataParallel(group, Network(x.shape[-1]).to(x.dtype))
    spent()  # counts from here on
    parallel(x[group.rank]).square().sum().backward()
    found["in the first layer"] = spent()
    parallel.finish()
    return {**found, "in finish": spent()}


# Inputs


def batch(draw: Draw, world: int, **more: Any) -> Arguments:
    return {
        "seed": draw.size(0, 10**6),
        "x": draw.normal(world, draw.size(2, 9), draw.size(3, 8)),
        "ranks": comm.turns(draw, world),
        **{name: value(draw) if callable(value) else value for name, value in more.items()},
    }


def on(*worlds: int, **more: Any) -> Inputs:
    return lambda draw: [batch(draw, world, **more) for world in worlds]


# Tests


def together(result: dict[str, dict[str, comm.Spent]]) -> dict[str, Any]:
    """What ranks did in all phases."""
    return {rank: {"did": [row for one in own.values() for row in one["did"]]} for rank, own in result.items()}


def traffic(needed: float, result: Any) -> tuple[float, bool]:
    """How many times what is needed goes through the busiest rank, where 1 is all near it; and whether by messages.

    Who gathers all gradients sends W / 2 times as much as an all_reduce; who sends them to rank 0, as well.
    """
    found = together(result)
    times = round(comm.busiest(found) / needed, 2)
    return (1.0, False) if 0.99 < times < 2.2 else (times, bool(comm.links(found)))


def of_network(draw: Draw, world: int) -> tuple[Arguments, int]:
    """A network whose costs are counted, and its gradients' bytes; a bias is frozen, and two layers share a weight."""
    given = batch(draw, world, layers=LAYERS) | {"x": draw.normal(world, draw.size(2, 5), DIM).float()}
    return given, (LAYERS - 1) * (DIM * DIM + DIM) * BYTES


def needed(size: int, world: int) -> float:
    """What an all_reduce round a ring sends."""
    return 2 * (world - 1) / world * size


@pytest.mark.rules
def test_traffic(submission: Submission, draw: Draw) -> None:
    world = 8
    given, size = of_network(draw, world)
    times, by_messages = submission.run(counted, summary=partial(traffic, needed(size, world)), **given)
    if times > 1:
        what = "send them to no single rank" if by_messages else "gather no gradients"
        raise CheckFailed(
            f"bytes through a rank of {world}: should be about what one all_reduce of {size:,} sends, got {times} "
            f"times as many: {what}"
        )
    if times < 1:
        raise CheckFailed(
            f"bytes through a rank of {world}: should be at least what one all_reduce of {size:,} sends, got {times} "
            "times as many: comm does not carry all gradients"
        )


def beyond(most: float, result: Any) -> int:
    """All that is cheap enough looks the same."""
    return round(max(most, comm.busiest(together(result))))


@pytest.mark.performance
def test_bytes(submission: Submission, draw: Draw) -> None:
    for world in (2, 4):
        given, size = of_network(draw, world)
        most = needed(size, world)
        got = submission.run(counted, summary=partial(beyond, 1.02 * most), **given)
        if got > 1.03 * most:
            raise CheckFailed(
                f"bytes through a rank of {world} in a step: should be those of one all_reduce of all gradients, "
                f"{most:,.0f}, got {got:,}"
            )


def overlap(size: int, result: Any) -> str:
    """Whether some rank waits within backward, or begins too late."""
    for own in result.values():
        early = own["until the first layer"]["did"]
        if any(row[0] in ("wait", "recv") for row in (*early, *own["in the first layer"]["did"])):
            return "waits"
        if sum(row[3] for row in early) < size / 2:
            return "late" if early or own["in the first layer"]["did"] else "after"
    return ""


@pytest.mark.performance
def test_overlap(submission: Submission, draw: Draw) -> None:
    given, size = of_network(draw, 2)
    problem = submission.run(counted, summary=partial(overlap, size), **given)
    said = {
        "waits": "waiting within backward: should be none, so begin with async_op=True and wait in finish",
        "late": f"bytes given to comm when backward reaches the first layer's output: should be at least half of "
        f"{size:,}, got fewer",
        "after": f"bytes given to comm when backward reaches the first layer's output: should be at least half of "
        f"{size:,}, got none, nor any before backward ends",
    }
    if problem:
        raise CheckFailed(said[problem])


case = partial(Case, scenario=one_step)
alone = partial(Case, dtypes=(torch.float64,))
robust = partial(alone, category="robustness")
hidden = {"hidden": lambda draw: draw.size(2, 6)}
GRADER = Grader(
    answers=(
        Answer(
            "class DataParallel(comm, module)",
            methods=("forward(*args)", "finish()"),
            oracle=PlainDataParallel,
            half=False,
            records=True,
            cases=(
                case("two_ranks", on(2, **hidden)),
                case("more_ranks", on(3, 4, 8, **hidden)),
                case("one_rank", on(1, **hidden)),
                Case("filled_at_the_start", on(3, 2), scenario=filled),
                alone("several_steps", on(2, 3), scenario=three_steps),
                alone("tied_weights", on(2, 4), scenario=tied),
                alone("unused_parameters", on(2, 3, 4), scenario=branches, core=False),
                alone("another_order", on(2, 3, 4), scenario=another_order, core=False),
                robust("two_forwards", on(2, 3), scenario=two_forwards),
                robust("hooks_stay", on(2, 3), scenario=hooks_stay),
            ),
        ),
    ),
)
