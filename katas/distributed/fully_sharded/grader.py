"""What is checked of FullySharded."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32


class Averaged(torch.autograd.Function):
    """The weights as they are; backward, the mean over ranks of their gradients."""

    @staticmethod
    def forward(ctx: Any, group: Any, flat: Tensor) -> Tensor:
        ctx.group = group
        return flat.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:  # type: ignore[override]
        return None, ctx.group.all_reduce(grad) / ctx.group.world_size


class Replicated(nn.Module):
    """What a right answer does, at any cost: every rank has all weights."""

    def __init__(self, group: Any, blocks: list[nn.Module]) -> None:
        super().__init__()
        self.group, self.blocks = group, blocks
        self.shards = [nn.Parameter(nn.utils.parameters_to_vector(block.parameters()).detach()) for block in blocks]

    def weights(self, block: nn.Module, flat: Tensor) -> dict[str, Tensor]:
        parts = flat.split([one.numel() for one in block.parameters()])
        return {name: part.view(one.shape) for (name, one), part in zip(block.named_parameters(), parts, strict=True)}

    def forward(self, x: Tensor) -> Tensor:
        for block, shard in zip(self.blocks, self.shards, strict=True):
            x = functional_call(block, self.weights(block, Averaged.apply(self.group, shard)), (x,))
        return x

    def full_parameters(self) -> list[list[Tensor]]:
        return [
            [one.detach().clone() for one in self.weights(block, shard).values()]
            for block, shard in zip(self.blocks, self.shards, strict=True)
        ]


# Scenarios. All ranks make the same blocks: Linear(D, n), tanh, Linear(n, D), or a PReLU, which has one number.


def trained(group, FullySharded, x, g, w, widths):
    """A step of gradient descent: layouts of the shards may differ, and what it makes of the weights may not."""
    D, r = x.shape[-1], group.rank
    blocks = [nn.Sequential(nn.Linear(D, n), nn.Tanh(), nn.Linear(n, D)) if n else nn.PReLU() for n in widths]
    for block, row in zip(blocks, w, strict=True):
        nn.utils.vector_to_parameters(row, block.to(w.dtype).parameters())
        for one in block.parameters():
            one.data = one.data.clone()
    model = FullySharded(group, blocks)
    before = [[one.detach() for one in block] for block in model.full_parameters()]
    own = x[r].clone().requires_grad_()
    y = model(own)
    (y * g[r]).sum().backward()
    with torch.no_grad():
        for shard in model.shards:
            shard -= 0.1 * shard.grad
    return {
        "y": y.detach(),
        "gradient of x": own.grad,
        "weights before a step": before,
        "weights after it": [[one.detach() for one in block] for block in model.full_parameters()],
        "shards": [isinstance(shard, nn.Parameter) for shard in model.shards],
    }


def several_steps(group, FullySharded, x, g, w, widths):
    """Two backward passes add up; then come steps with the new weights, the last under no_grad and in eval mode."""
    D, r = x.shape[-1], group.rank
    blocks = [nn.Sequential(nn.Linear(D, n), nn.Tanh(), nn.Linear(n, D)) if n else nn.PReLU() for n in widths]
    for block, row in zip(blocks, w, strict=True):
        nn.utils.vector_to_parameters(row, block.to(w.dtype).parameters())
        for one in block.parameters():
            one.data = one.data.clone()
    model = FullySharded(group, blocks)
    for times in (2, 1, 3):
        for time in range(times):
            (model(x[r] - time) * g[r]).sum().backward()
        with torch.no_grad():
            for shard in model.shards:
                shard -= 0.1 * shard.grad
        for shard in model.shards:
            shard.grad = None
    with torch.no_grad():
        found = {"under no_grad": model(x[r])}
    found["in eval mode"] = model.eval()(x[r]).detach()
    return {**found, "weights": [[one.detach() for one in block] for block in model.full_parameters()]}


def measured(group, spent, FullySharded, x, g, w, widths):
    """What a rank holds: a ballast covers what making the model takes, and shows what is left of it."""
    D, r = x.shape[-1], group.rank

    def made():
        blocks = [nn.Sequential(nn.Linear(D, n), nn.Tanh(), nn.Linear(n, D)).to(w.dtype) for n in widths]
        for block, row in zip(blocks, w, strict=True):
            nn.utils.vector_to_parameters(row, block.parameters())
            for one in block.parameters():
                one.data = one.data.clone()
        return FullySharded(group, blocks)

    spent()  # counts from here on
    ballast = torch.empty(4 * w.numel())
    spent()
    del ballast
    model = made()
    ballast = torch.empty(4 * w.numel())
    found = {"at rest": spent()}
    del ballast
    spent()
    y = model(x[r])
    found["forward"] = spent()
    (y * g[r]).sum().backward()
    found["backward"] = spent()
    return found


# Inputs


def count(dim: int, width: int) -> int:
    """Numbers in a block."""
    return 2 * dim * width + width + dim if width else 1


def model(draw: Draw, world: int, widths: list[int], rows: tuple[int, ...] = (), dim: int = 0) -> Arguments:
    D, shape = dim or draw.size(2, 4), rows or (draw.size(1, 3),)
    most = max(count(D, n) for n in widths)
    w = 0.5 * draw.normal(len(widths), most)
    cut = [count(D, n) for n in widths]
    for row, length in zip(w, cut, strict=True):
        row[length:] = 0
    return {
        "x": draw.normal(world, *shape, D),
        "g": draw.normal(world, *shape, D),
        "w": w,
        "widths": widths,
        "ranks": comm.turns(draw, world),
    }


def on(*worlds: int, blocks: tuple[int, int] = (2, 3)) -> Inputs:
    return lambda draw: [model(draw, world, [draw.size(1, 5) for _ in range(draw.size(*blocks))]) for world in worlds]


def more(draw: Draw) -> list[Arguments]:
    """Over eight ranks, `chunk` has no part for some of them."""
    return [*on(3, 4)(draw), model(draw, 8, [2, draw.size(1, 5)], dim=draw.size(2, 3))]


def small(draw: Draw) -> list[Arguments]:
    """A block with fewer numbers than ranks; batches of any axes."""
    return [
        model(draw, world, [draw.size(1, 3), 0], rows)
        for world, rows in ((2, ()), (4, (2, draw.size(1, 3))), (8, (1,)))
    ]


# Tests


Found = dict[str, dict[str, comm.Spent]]


def volumes(result: Found) -> dict[str, float]:
    """What collectives sent in a step, in numbers that were gathered or reduced once; and those of all_reduce alone."""
    found = {"all": 0.0, "all_reduce": 0.0}
    for own in result.values():
        for what, _, numbers, *_ in [*own["forward"]["did"], *own["backward"]["did"]]:
            if what == "all_gather":
                found["all"] += numbers
            elif what != "wait":
                found["all"] += (1 + (what == "all_reduce")) * numbers / len(result)
            if what == "all_reduce":
                found["all_reduce"] += numbers / len(result)
    return found


def above(result: Found, limits: dict[str, int]) -> dict[str, list[bool]]:
    """Whether each rank held more bytes than so many at rest, in forward and in backward."""
    made = {rank: own["at rest"]["peak"] for rank, own in result.items()}
    peaks = {
        "at rest": made,
        "in forward": {rank: made[rank] + own["forward"]["peak"] for rank, own in result.items()},
        "in backward": {
            rank: made[rank] + own["forward"]["held"] + own["backward"]["peak"] for rank, own in result.items()
        },
    }
    return {when: [peak > limits[when] for peak in each.values()] for when, each in peaks.items()}


def asked(submission: Submission, draw: Draw, summary: Any, world: int, blocks: int, dim: int, width: int) -> Any:
    given = model(draw, world, [width] * blocks, (2,), dim)
    given = {name: one.float() if isinstance(one, Tensor) else one for name, one in given.items()}
    return submission.run(measured, summary=summary, **given)


@pytest.mark.rules
def test_weights_of_a_rank(submission: Submission, draw: Draw) -> None:
    """A part of the weights, and in backward of the gradients, with six blocks; all blocks would be twelve."""
    world, blocks, dim, width = 8, 12, 32, 32
    block = count(dim, width) * BYTES
    part = blocks * block // world
    limits = {"at rest": part + 2 * block, "in forward": part + 6 * block, "in backward": 2 * part + 6 * block}
    found = asked(submission, draw, partial(above, limits=limits), world, blocks, dim, width)
    for when, limit in limits.items():
        for rank in range(world):
            if found[when][rank]:
                raise CheckFailed(
                    f"bytes of rank {rank} of {world} {when}: should be at most {limit:,}, got more; all weights are "
                    f"{blocks * block:,}"
                )


@pytest.mark.rules
def test_gathered_and_reduced(submission: Submission, draw: Draw) -> None:
    """Who sends less than two gathers and a reduction has kept the weights, or has them by another way."""
    for world in (2, 4):
        blocks, dim, width = 3, 8, draw.size(8, 16)
        numbers = blocks * count(dim, width)
        found = asked(submission, draw, volumes, world, blocks, dim, width)
        sent, reduced = (found[name] / numbers for name in ("all", "all_reduce"))
        if reduced > 0.2:
            raise CheckFailed(
                f"gradients given to all_reduce: should be none, got {reduced:.2f} times all; reduce_scatter"
            )
        if not 2.99 - 1 / blocks <= sent <= 5.2:  # the last block may stay from forward to backward
            raise CheckFailed(
                f"collectives of a step: should send all weights 3 or 4 times, gathered forward, gathered backward "
                f"and reduced, got {sent:.2f} times"
            )


@pytest.mark.performance
def test_numbers_sent(submission: Submission, draw: Draw) -> None:
    """Three gathers of all weights at most, forward, recomputed and backward, and one reduction."""
    for world in (3, 4):
        blocks, dim, width = 3, 8, draw.size(8, 16)
        sent = asked(submission, draw, volumes, world, blocks, dim, width)["all"] / (blocks * count(dim, width))
        if sent > 4.2:
            raise CheckFailed(f"collectives of a step: should send all weights at most 4 times, got {sent:.2f} times")


case = partial(Case, scenario=trained)
alone = partial(Case, dtypes=(torch.float64,))
GRADER = Grader(
    answers=(
        Answer(
            "class FullySharded(comm, blocks)",
            methods=("forward(x)", "full_parameters()"),
            oracle=Replicated,
            half=False,
            records=True,
            cases=(
                case("two_ranks", on(2)),
                case("more_ranks", more),
                case("one_rank", on(1)),
                case("one_block", on(2, 3, blocks=(1, 1))),
                alone("small_blocks", small, scenario=trained, core=False),
                alone("several_steps", on(2, 3), scenario=several_steps, category="robustness"),
            ),
        ),
    ),
)
