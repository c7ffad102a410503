"""What is checked of reduce_scatter, all_gather and ring_all_reduce."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32
DIVISIBLE = 24  # by every number of ranks


def from_all(comm: Any, x: Tensor) -> list[Tensor]:
    """What each rank has, by sending it to everybody."""
    others = [rank for rank in range(comm.world_size) if rank != comm.rank]
    for rank in others:
        comm.send(x, rank)
    return [x if rank == comm.rank else comm.recv(rank) for rank in range(comm.world_size)]


def summed_everywhere(comm: Any, x: Tensor) -> Tensor:
    return torch.stack(from_all(comm, x)).sum(0, dtype=x.dtype)


def chunk_of_the_sum(comm: Any, x: Tensor) -> Tensor:
    return summed_everywhere(comm, x).flatten().tensor_split(comm.world_size)[comm.rank]


def joined(comm: Any, shard: Tensor) -> Tensor:
    return torch.cat(from_all(comm, shard))


# Scenarios: each rank takes its own part of the inputs.


def chunk(comm, reduce_scatter, x):
    return reduce_scatter(comm, x[comm.rank])


def joint(comm, all_gather, shards, lengths):
    return all_gather(comm, shards.split(lengths)[comm.rank])


def total(comm, ring_all_reduce, x):
    return ring_all_reduce(comm, x[comm.rank])


def several_in_a_row(comm, reduce_scatter, all_gather, ring_all_reduce, x):
    own, W = x[comm.rank], comm.world_size
    first = ring_all_reduce(comm, own)
    return {
        "a second sum": ring_all_reduce(comm, own[:, 0] * 2),
        "a chunk": reduce_scatter(comm, own),
        "the ranks": all_gather(comm, torch.full((comm.rank % 3,), comm.rank)),
        "a third sum": ring_all_reduce(comm, own + 1),
        "the first sum": first,
        "the number of ranks": all_gather(comm, torch.tensor([W])),
    }


def written_to_later(comm, reduce_scatter, all_gather, ring_all_reduce, x):
    own = x[comm.rank].clone()
    results = {"a chunk": reduce_scatter(comm, own), "all of it": all_gather(comm, own), "the sum": own}
    results["the sum"] = ring_all_reduce(comm, own)
    own.fill_(7)
    return results


def counted(comm, spent, reduce_scatter, all_gather, ring_all_reduce, x):
    own, found = x[comm.rank], {}
    spent()  # counts from here on
    functions = {"reduce_scatter": reduce_scatter, "all_gather": all_gather, "ring_all_reduce": ring_all_reduce}
    for name, function in functions.items():
        function(comm, own)
        found[name] = spent()
    return found


# Inputs


def whole(draw: Draw, *shape: int) -> Tensor:
    """Small whole numbers, in floats: easy to add by hand."""
    return draw.integers(*shape, low=-9, high=10).double()


def tensors(*worlds: int, least: int = 1, most: int = 12, axes: int = 1, numbers: Any = Draw.normal) -> Inputs:
    """For each number of ranks a call, whose sizes and order of ranks the seed draws."""

    def inputs(draw: Draw) -> list[Arguments]:
        return [
            {
                "x": numbers(draw, world, *(draw.size(least, most) for _ in range(axes))),
                "ranks": comm.turns(draw, world),
            }
            for world in worlds
        ]

    return inputs


def uneven(draw: Draw) -> list[Arguments]:
    """Sizes that W does not divide, and fewer numbers than ranks."""
    sizes = [(world, world * draw.size(1, 4) + draw.size(1, world - 1)) for world in (3, 4, 8)]
    sizes += [(world, draw.size(1, world - 1)) for world in (4, 8)]
    return [{"x": draw.normal(world, n), "ranks": comm.turns(draw, world)} for world, n in sizes]


def of_integers(draw: Draw) -> list[Arguments]:
    """Sums that no float64 holds."""
    kinds = ((3, 5, torch.int64, 2**60), (2, 3, torch.int32, 2**29))
    return [
        {"x": draw.integers(world, n, low=-high, high=high).to(dtype), "ranks": comm.turns(draw, world)}
        for world, n, dtype, high in kinds
    ]


def shards(*worlds: int, least: int = 1, numbers: Any = Draw.normal) -> Inputs:
    """Of lengths that differ; from `least` on."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for world in worlds:
            lengths = [draw.size(least, 5) for _ in range(world)]
            if not least:
                lengths[draw.size(0, world - 1)] = 0
            made.append({"shards": numbers(draw, sum(lengths)), "lengths": lengths, "ranks": comm.turns(draw, world)})
        return made

    return inputs


def whole_shards(draw: Draw) -> list[Arguments]:
    return [given | {"shards": given["shards"].long() + 2**40} for given in shards(3, numbers=whole)(draw)]  # type: ignore[union-attr]


# Tests


def figures(result: dict[str, dict[str, comm.Spent]]) -> dict[str, Any]:
    """Of each function: messages and bytes on each link, and the time that they take."""
    names = next(iter(result.values()))
    made = {name: {rank: own[name] for rank, own in result.items()} for name in names}
    return {
        name: [[*link, *figures] for link, figures in sorted(comm.links(spent).items())] for name, spent in made.items()
    } | {f"time of {name}": comm.seconds(spent) for name, spent in made.items()}


def asked(submission: Submission, draw: Draw, world: int) -> dict[str, Any]:
    x = draw.normal(world, DIVISIBLE * 4000 if world == 4 else DIVISIBLE * draw.size(5, 20)).float()
    found: dict[str, Any] = submission.run(counted, summary=figures, x=x, ranks=comm.turns(draw, world))
    return found | {"numbers": x.shape[1]}


def needed(found: dict[str, Any], world: int) -> dict[str, tuple[int, int]]:
    """Of each function, the messages and bytes that leave a rank."""
    steps, size = world - 1, found["numbers"] * BYTES
    half = steps, steps * size // world
    return {
        "reduce_scatter": half,
        "all_gather": (steps, steps * size),
        "ring_all_reduce": (2 * steps, 2 * half[1]),
    }


@pytest.mark.rules
def test_only_to_the_next_rank(submission: Submission, draw: Draw) -> None:
    """Who sends less than a ring must cannot have the sum: then something else carries the values."""
    for world in (3, 2, 4):
        found = asked(submission, draw, world)
        for name, (_, least) in needed(found, world).items():
            wrong = [(src, dst) for src, dst, *_ in found[name] if dst != (src + 1) % world]
            for src, dst in wrong[:1]:
                raise CheckFailed(
                    f"messages of {name}: rank {src} of {world} should send to rank {(src + 1) % world} alone, got one "
                    f"to rank {dst}"
                )
            for src, _, _, size in found[name]:
                if size < least:
                    raise CheckFailed(
                        f"bytes of {name}: should be at least {least:,} out of rank {src} of {world}, so that all "
                        f"numbers travel by messages, got {size:,}"
                    )
            if len(found[name]) < world:
                raise CheckFailed(f"messages of {name}: all {world} ranks should send some, got {len(found[name])}")


@pytest.mark.performance
def test_messages_and_bytes(submission: Submission, draw: Draw) -> None:
    for world in (2, 3, 4, 8):
        found = asked(submission, draw, world)
        for name, (most, size) in needed(found, world).items():
            for src, _, messages, got in found[name]:
                where = f"out of rank {src} of {world} in {name}"
                problem = comm.at_most(f"messages {where}", messages, most)
                problem = problem or comm.at_most(f"bytes {where}", got, size)
                if problem:
                    raise CheckFailed(problem)
            if len(found[name]) < world or min(size for *_, size in found[name]) < size:
                raise CheckFailed(f"bytes of {name}: should be {size:,} out of each of {world} ranks")


@pytest.mark.performance
def test_time_on_the_network(submission: Submission, draw: Draw) -> None:
    """At 96,000 numbers, as if a byte took ten times as long: then it is the time of 960,000."""
    world = 4
    found = asked(submission, draw, world)
    best = 2 * (world - 1) * (comm.LATENCY + found["numbers"] * BYTES / world * comm.PER_BYTE)
    got = found["time of ring_all_reduce"]
    if not best / 1.2 <= got <= 1.2 * best:
        raise CheckFailed(f"time on the network: should be at most {1.2e6 * best:.0f} µs, got {1e6 * got:.0f} µs")


def others(found: dict[str, Tensor]) -> list[str]:
    """The ranks whose bits are not rank 0's."""
    return [rank for rank, own in found.items() if not torch.equal(own, found["rank 0"])]


@pytest.mark.robustness
def test_same_bits_on_all_ranks(submission: Submission, draw: Draw) -> None:
    for world in (3, 4, 8):
        x = (draw.normal(world, 5 * world) * 10 ** draw.uniform(world, 1, low=-3, high=3)).float()
        wrong = submission.run(total, summary=others, x=x, ranks=comm.turns(draw, world))
        if wrong:
            raise CheckFailed(f"bits of {wrong[0]} of {world}: should be rank 0's, but the two sums are rounded apart")


case = partial(Case, scenario=total)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "reduce_scatter(comm, x)",
            oracle=chunk_of_the_sum,
            half=False,
            cases=(
                Case("chunks_of_two_ranks", tensors(2, least=4, most=6, numbers=whole), scenario=chunk),
                Case("chunks_of_more", tensors(3, 4, 4, 8, least=8), scenario=chunk),
                Case("chunks_of_one_rank", tensors(1), scenario=chunk),
                Case("uneven_chunks", uneven, scenario=chunk),
                Case("chunks_of_any_shape", tensors(3, 2, axes=2), scenario=chunk),
                Case("chunks_of_integers", of_integers, dtypes=(torch.float64,), scenario=chunk, core=False),
            ),
        ),
        Answer(
            "all_gather(comm, shard)",
            oracle=joined,
            half=False,
            cases=(
                Case("shards_of_two_ranks", shards(2, numbers=whole), scenario=joint),
                Case("shards_of_more", shards(3, 4, 4, 8), scenario=joint),
                Case("shards_of_one_rank", shards(1), scenario=joint),
                Case("empty_shards", shards(2, 3, 4, least=0), scenario=joint, core=False),
                Case("shards_of_integers", whole_shards, dtypes=(torch.float64,), scenario=joint, core=False),
            ),
        ),
        Answer(
            "ring_all_reduce(comm, x)",
            oracle=summed_everywhere,
            half=False,
            cases=(
                case("sum_of_two_ranks", tensors(2, least=4, most=6, numbers=whole)),
                case("sum_of_more", tensors(3, 4, 4, 8, least=8)),
                case("sum_of_one_rank", tensors(1)),
                case("uneven_sum", uneven),
                case("any_shape", tensors(3, 2, 4, axes=2, most=5)),
                case("single_numbers", tensors(2, 3, axes=0), core=False),
                case("integers", of_integers, dtypes=(torch.float64,), core=False),
                robust("several_in_a_row", tensors(3, 4, axes=2, most=5), scenario=several_in_a_row),
                robust("written_to_later", tensors(1, 3), scenario=written_to_later),
            ),
        ),
    ),
)
