"""What is checked of sharded_matmul."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32


def with_all_columns(comm: Any, a: Tensor, b: Tensor) -> Tensor:
    """As one process that has all of B, which it gets by a message from each rank."""
    others = [rank for rank in range(comm.world_size) if rank != comm.rank]
    for rank in others:
        comm.send(b, rank)
    return a @ torch.cat([b if rank == comm.rank else comm.recv(rank) for rank in range(comm.world_size)], 1)


# Scenarios: each rank takes its own part of the inputs.


def rows(comm, sharded_matmul, a, b):
    W, r = comm.world_size, comm.rank
    return sharded_matmul(comm, a.tensor_split(W)[r], b.tensor_split(W, 1)[r])


def several_in_a_row(comm, sharded_matmul, a, b):
    W, r = comm.world_size, comm.rank
    a, b = a.tensor_split(W)[r], b.tensor_split(W, 1)[r]
    first = sharded_matmul(comm, a, b)
    return {
        "a second product": sharded_matmul(comm, a * 2, b[:, :1]),
        "a third product": sharded_matmul(comm, a[:1], b),
        "the first product": first,
    }


def written_to_later(comm, sharded_matmul, a, b):
    W, r = comm.world_size, comm.rank
    a, b = a.tensor_split(W)[r].clone(), b.tensor_split(W, 1)[r].clone()
    product = sharded_matmul(comm, a, b)
    a.fill_(7)
    b.fill_(7)
    return product


def counted(comm, spent, sharded_matmul, a, b):
    W, r = comm.world_size, comm.rank
    a, b = a.tensor_split(W)[r], b.tensor_split(W, 1)[r].contiguous()
    spent()  # counts from here on
    sharded_matmul(comm, a, b)
    return spent()


# Inputs


def whole(draw: Draw, *shape: int) -> Tensor:
    """Small whole numbers, in floats: easy to multiply by hand."""
    return draw.integers(*shape, low=-4, high=5).double()


def sizes_from(*worlds: int, low: float, high: float, inner: int = 6, numbers: Any = Draw.normal) -> Inputs:
    """For each W a call; m and n are drawn between `low` and `high` times W, and W divides neither."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for world in worlds:
            least, most = max(int(low * world), 1), int(high * world)
            m, n = (draw.size(least, most) for _ in range(2))
            n += world > 1 and n % world == 0
            k = draw.size(2, inner)
            made.append({"a": numbers(draw, m, k), "b": numbers(draw, k, n), "ranks": comm.turns(draw, world)})
        return made

    return inputs


def equal_shards(draw: Draw) -> Arguments:
    m, k, n = (draw.size(2, 4) for _ in range(3))
    return {"a": draw.normal(3 * m, k), "b": draw.normal(k, 3 * n), "ranks": comm.turns(draw, 3)}


def empty_inside(draw: Draw) -> Arguments:
    """Without an inner axis, the product is 0."""
    return {"a": draw.normal(5, 0), "b": draw.normal(0, 7), "ranks": comm.turns(draw, 3)}


# Tests


def figures(spent: comm.Spent) -> dict[str, Any]:
    """Messages on each link, and what each rank held."""
    return {
        "links": [[*link, *figures] for link, figures in sorted(comm.links(spent).items())],
        "peaks": comm.peaks(spent),
    }


def asked(submission: Submission, draw: Draw, world: int, m: int, k: int, n: int) -> dict[str, Any]:
    a, b = draw.normal(world * m, k).float(), draw.normal(k, world * n).float()
    found: dict[str, Any] = submission.run(counted, summary=figures, a=a, b=b, ranks=comm.turns(draw, world))
    return found


@pytest.mark.rules
def test_only_to_one_neighbour(submission: Submission, draw: Draw) -> None:
    for world in (3, 2, 4, 8):
        found = asked(submission, draw, world, *(draw.size(2, 6) for _ in range(3)))
        links = {(src, dst) for src, dst, *_ in found["links"]}
        right, left = ({(r, (r + step) % world) for r in range(world)} for step in (1, -1))
        if not (links <= right or links <= left):
            src, dst = min(links - right)
            raise CheckFailed(
                f"messages: rank {src} of {world} should send to rank {(src + 1) % world} alone, got one to rank {dst}"
            )
        if len(links) < world:
            raise CheckFailed(f"messages: every rank should send some, got {len(links)} ranks that do")


@pytest.mark.performance
def test_messages_and_bytes(submission: Submission, draw: Draw) -> None:
    """Who sends less cannot have the product: then something else carries B."""
    for world in (2, 3, 4, 8):
        k, n = draw.size(5, 30), draw.size(5, 30)
        found = asked(submission, draw, world, 3, k, n)
        size = (world - 1) * k * n * BYTES
        for src, _, messages, got in found["links"]:
            problem = comm.at_most(f"messages out of rank {src} of {world}", messages, world - 1)
            problem = problem or comm.at_most(f"bytes out of rank {src} of {world}", got, size)
            if problem:
                raise CheckFailed(problem)
            if got < size:
                raise CheckFailed(f"bytes out of rank {src} of {world}: should be {size:,}, got {got:,}")


@pytest.mark.performance
def test_memory_of_a_rank(submission: Submission, draw: Draw) -> None:
    """Three shards of B and the result twice, and 4 kB for what is small; all shards of B would be eight."""
    world, m, k, n = 8, 16, 256, 32
    found = asked(submission, draw, world, m, k, n)
    most = (3 * k * n + 2 * m * world * n) * BYTES + 4096
    for rank, peak in enumerate(found["peaks"]):
        problem = comm.at_most(f"bytes of rank {rank} of {world} at once, without its arguments", peak, most)
        if problem:
            raise CheckFailed(problem)


case = partial(Case, scenario=rows)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "sharded_matmul(comm, a, b)",
            oracle=with_all_columns,
            half=False,
            cases=(
                case("two_ranks", sizes_from(2, low=1, high=2, inner=3, numbers=whole)),
                case("more_ranks", sizes_from(3, 4, 4, 8, low=1, high=3)),
                case("one_rank", sizes_from(1, low=3, high=5)),
                case("equal_shards", equal_shards),
                case("empty_shards", sizes_from(4, 8, low=0.2, high=0.7), core=False),
                case("nothing_inside", empty_inside, core=False),
                robust("several_in_a_row", sizes_from(3, 4, low=1, high=2), scenario=several_in_a_row),
                robust("written_to_later", sizes_from(1, 3, low=1, high=3), scenario=written_to_later),
            ),
        ),
    ),
)
