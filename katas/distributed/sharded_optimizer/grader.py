"""What is checked of ShardedAdam."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32
WORLD, NUMBERS, COUNT, STEPS = 8, 128, 8, 1  # of the ranks, parameters and steps whose costs are counted


class WholeAdam:
    """Keeps all mean gradients of each parameter, and finds every moment anew as a weighted mean of them."""

    def __init__(
        self,
        group: Any,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.group, self.params = group, [*params]
        self.lr, self.betas, self.eps = lr, betas, eps
        assert self.params
        assert min(lr, eps, *betas) >= 0
        assert max(betas) < 1
        self.past: list[list[Tensor]] = [[] for _ in self.params]

    def step(self) -> None:
        for parameter, past in zip(self.params, self.past, strict=True):
            if parameter.grad is not None:
                past.append(self.group.all_reduce(parameter.grad) / self.group.world_size)
                m, v = weighted(past, self.betas[0]), weighted([g**2 for g in past], self.betas[1])
                parameter.data.sub_(self.lr * m / (v.sqrt() + self.eps))

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None


def weighted(past: list[Tensor], beta: float) -> Tensor:
    weights = [beta**age for age in reversed(range(len(past)))]
    return sum((w * g for w, g in zip(weights, past, strict=True)), torch.zeros_like(past[0])) / sum(weights)


# Scenarios. All ranks have the same parameters, made of `start`, and each its own gradients in each step.


def trained(group, ShardedAdam, start, gradients, without=(), strided=False, form="a list", **options):
    """Each step finds its gradients in .grad; some steps have none of some parameters."""
    names = "matrix", "row", "twin", "number"
    matrix, *others = start[:-2].mT if strided else start[:-2], start[-2], start[-1], start[0, 0]
    params = [p.clone().requires_grad_() for p in (matrix, *others)]
    forms = {"a list": params, "a tuple": (*params,), "a generator": (p for p in params)}
    optimizer = ShardedAdam(group, forms[form], **options)
    found = {one: [] for one in names}
    for t, now in enumerate(gradients[group.rank]):
        grads = now[:-2].mT if strided else now[:-2], now[-2], now[-1], now[0, 0]
        for one, p, g in zip(names, params, grads, strict=True):
            p.grad = None if without and one in without[t] else g.clone()
        optimizer.step()
        optimizer.zero_grad()
        for one, p in zip(names, params, strict=True):
            found[one].append(p.detach().clone())
    return {f"{one} after each step": torch.stack(values) for one, values in found.items()}


def what_is_left(group, ShardedAdam, start, gradients, **options):
    """Of steps as in training, where a second parameter has no gradient; then of a new optimizer's step."""
    p, unused = start.clone().requires_grad_(), start.clone().requires_grad_()
    view = p.detach()
    with torch.enable_grad():
        optimizer = ShardedAdam(group, [p, unused], **options)
        for g in gradients[group.rank]:
            p.grad = g.clone()
            optimizer.step()
            optimizer.zero_grad()
        on = torch.is_grad_enabled()
        p.grad = gradients[group.rank, 0].clone()
        ShardedAdam(group, [p, unused], **options).step()
    return {
        "a view of the parameter, made before the steps": view,
        "the parameter is a leaf that requires gradients": p.is_leaf and p.requires_grad,
        "gradients are recorded afterwards": on,
        "a parameter without a gradient": unused.detach(),
        "the .grad of that parameter is still None": unused.grad is None,
    }


def zeroed(group, ShardedAdam, start):
    params = [row.clone().requires_grad_() for row in start]
    for p in params[1:]:
        p.grad = p.detach().cos()
    ShardedAdam(group, params).zero_grad()
    return {"sum of |.grad| after zero_grad()": [0.0 if p.grad is None else float(p.grad.abs().sum()) for p in params]}


def refused(group, ShardedAdam, start, form="one", **options):
    params = {"one": [start.clone().requires_grad_()], "none": [], "an empty generator": (p for p in [])}
    ShardedAdam(group, params[form], **options)


def counted(group, spent, ShardedAdam, start, gradients):
    """Of a few steps; what is held is what the optimizer keeps."""
    params = [row.clone().requires_grad_() for row in start]
    grads = [[row.clone() for row in now] for now in gradients[group.rank]]
    spent()  # counts from here on
    optimizer = ShardedAdam(group, params)
    for now in grads:
        for p, g in zip(params, now, strict=True):
            p.grad = g
        optimizer.step()
    for p in params:
        p.grad = None
    return {"with the optimizer": spent(), "params": optimizer.zero_grad()}


# Inputs


def run(draw: Draw, world: int, steps: int = 3, rows: int = 4, columns: int = 5, **more: Any) -> Arguments:
    """Gradients of sizes from 0.1 to 10; every parameter has some."""
    sizes = 10 ** draw.uniform(rows, columns, low=-1, high=1)
    return {
        "start": draw.normal(rows, columns),
        "gradients": draw.normal(world, steps, rows, columns) * sizes,
        "ranks": comm.turns(draw, world),
        **more,
    }


def runs(*changes: Arguments, worlds: tuple[int, ...] = (2, 3), **options: Any) -> Inputs:
    def inputs(draw: Draw) -> list[Arguments]:
        return [
            run(draw, world, rows=draw.size(3, 5), columns=draw.size(3, 9), **options | change)
            for world in worlds
            for change in changes or ({},)
        ]

    return inputs


def drawn(draw: Draw, rows: int, columns: int) -> list[Arguments]:
    """Options and numbers of steps that the seed draws."""
    return [
        run(
            draw,
            world,
            draw.size(4, 7),
            rows,
            columns,
            lr=draw.number(0.01, 0.3),
            betas=[draw.number(0.1, 0.95), draw.number(0.5, 0.99)],
            eps=draw.number(1e-2, 1.0),
        )
        for world in (2, 4)
    ]


def small(draw: Draw) -> list[Arguments]:
    """Parameters of fewer numbers than there are ranks."""
    return [run(draw, world, 2, 3, draw.size(1, world - 2), lr=0.1) for world in (4, 8)]


def starts(*changes: Arguments) -> Inputs:
    return lambda draw: [
        {"start": draw.normal(3, 2), "ranks": comm.turns(draw, world), **change}
        for world, change in zip((2, 3, 4, 2, 1, 2, 3, 2, 2), changes, strict=False)
    ]


WITHOUT = (
    ["row", "", "row twin", "number", ""],  # one starts late, others pause
    ["", "matrix row twin number", "matrix", "", ""],
)
BAD = [{"lr": -0.1}, {"eps": -1e-8}, *({"betas": b} for b in ((-0.1, 0.9), (0.9, -0.1), (1.0, 0.9), (0.9, 1.0)))]
NOBODY = [{"form": form} for form in ("none", "an empty generator")]

# Tests


def many(draw: Draw) -> tuple[Arguments, int]:
    """Parameters whose costs are counted, and the bytes of all of them."""
    given = run(draw, WORLD, STEPS, COUNT, NUMBERS)
    return given | {name: given[name].float() for name in ("start", "gradients")}, COUNT * NUMBERS * BYTES


def spent_of(result: Any) -> dict[str, Any]:
    return {rank: own["with the optimizer"] for rank, own in result.items()}


def state(most: int, size: int, result: Any) -> int:
    """Quarters of the parameters' bytes; 0 if it is little enough."""
    most_held = max(comm.held(spent_of(result)))
    return round(4 * most_held / size) if most_held > most else 0


@pytest.mark.rules
def test_state_is_sharded(submission: Submission, draw: Draw) -> None:
    """Three shards of both moments, and both moments of one parameter: room for copies, padding and owners."""
    given, size = many(draw)
    most = 2 * (3 * size // WORLD + NUMBERS * BYTES) + 512
    quarters = submission.run(counted, summary=partial(state, most, size), **given)
    if quarters:
        raise CheckFailed(
            f"bytes that the optimizer keeps on a rank of {WORLD}: should be at most {most:,}, got about "
            f"{quarters * size // 4:,}; both moments of all parameters have {2 * size:,}"
        )


def traffic(least: float, result: Any) -> int:
    """In tenths of what is needed; all that is near it is alike."""
    tenths = 10 * comm.busiest(spent_of(result)) / least
    return 10 if 9.9 < tenths < 11 else round(tenths)


def traffic_of(submission: Submission, draw: Draw) -> tuple[float, int]:
    """How many times what a reduce-scatter and an all-gather need, and what that is."""
    given, size = many(draw)
    least = STEPS * 2 * (WORLD - 1) / WORLD * size
    tenths = submission.run(counted, summary=partial(traffic, least), **given)
    return tenths / 10, round(least / STEPS)


@pytest.mark.rules
def test_gradients_are_not_gathered(submission: Submission, draw: Draw) -> None:
    times, needed = traffic_of(submission, draw)
    if times > 2:
        raise CheckFailed(
            f"bytes through a rank of {WORLD} in a step: should be about {needed:,}, got {times} times as many: gather "
            "no gradients, and send them to no single rank"
        )
    if times < 1:
        raise CheckFailed(
            f"bytes through a rank of {WORLD} in a step: should be at least {needed:,}, got {times} times as many: "
            "comm does not carry all gradients and parameters"
        )


@pytest.mark.performance
def test_bytes(submission: Submission, draw: Draw) -> None:
    times, needed = traffic_of(submission, draw)
    if times > 1:
        raise CheckFailed(
            f"bytes through a rank of {WORLD} in a step: should be those of a reduce-scatter and an all-gather, "
            f"{needed:,}, got {times} times as many"
        )


case = partial(Case, scenario=trained)
alone = partial(case, dtypes=(torch.float64,))
robust = partial(alone, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class ShardedAdam(comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8)",
            methods=("step()", "zero_grad()"),
            oracle=WholeAdam,
            half=False,
            cases=(
                case("two_ranks", runs(worlds=(2,), steps=4)),
                case("more_ranks", runs(worlds=(3, 4, 8), lr=0.1)),
                case("one_rank", runs(worlds=(1,), lr=0.1)),
                alone(
                    "large_eps",
                    runs({"eps": 1.0, "lr": 0.5}, {"eps": 0.1, "lr": 0.1}, {"eps": 0.0}, {"lr": 0.0}, worlds=(2,)),
                ),
                alone(
                    "other_betas",
                    runs({"betas": [0.5, 0.9]}, {"betas": [0.0, 0.99]}, {"betas": [0.9, 0.0]}, worlds=(3,), lr=0.1),
                ),
                alone("drawn_options", drawn, sizes={"rows": (3, 6), "columns": (2, 9)}),
                alone(
                    "missing_gradients",
                    runs(*({"without": one} for one in WITHOUT), worlds=(2,), steps=5, lr=0.1, eps=0.1),
                ),
                alone("few_numbers", small, core=False),
                alone("zero_grad", starts({}, {}), scenario=zeroed),
                alone("any_iterable", runs({"form": "a tuple"}, {"form": "a generator"}, worlds=(2,)), core=False),
                robust("strided_parameters", runs({"strided": True}, lr=0.1)),
                robust("what_is_left", runs({"lr": 0.1}), scenario=what_is_left),
                Case("bad_arguments", starts(*BAD, *NOBODY), scenario=refused, raises=ValueError),
            ),
        ),
    ),
)
