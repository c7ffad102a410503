"""What is checked of ring_attention."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, Tolerance, bans, comm

BYTES = 4  # of a float32
ROUNDED = {torch.float32: Tolerance(0.0, 2e-3, 2e-3)}  # a score of 1,150 is rounded by 1e-4


def with_all_keys(comm: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """As one process that has all keys and values, which it gets by messages from each rank."""
    others = [rank for rank in range(comm.world_size) if rank != comm.rank]
    for rank in others:
        comm.send(torch.stack([k, v]), rank)
    both = [torch.stack([k, v]) if rank == comm.rank else comm.recv(rank) for rank in range(comm.world_size)]
    keys, values = torch.cat(both, 3)
    scores = q @ keys.mT / math.sqrt(q.shape[-1])
    if causal:
        own = sum(block.shape[3] for block in both[: comm.rank]) + torch.arange(q.shape[2])
        scores = scores.masked_fill(torch.arange(keys.shape[2]) > own[:, None], -torch.inf)
    return torch.softmax(scores, -1) @ values


# Scenarios: each rank takes its own tokens.


def own_tokens(comm, ring_attention, q, k, v):
    q, k, v = (one.tensor_split(comm.world_size, 2)[comm.rank] for one in (q, k, v))
    return ring_attention(comm, q, k, v)


def own_tokens_causal(comm, ring_attention, q, k, v):
    q, k, v = (one.tensor_split(comm.world_size, 2)[comm.rank] for one in (q, k, v))
    return ring_attention(comm, q, k, v, causal=True)


def both_ways(comm, ring_attention, q, k, v):
    q, k, v = (one.tensor_split(comm.world_size, 2)[comm.rank] for one in (q, k, v))
    return {"all keys": ring_attention(comm, q, k, v, False), "causal": ring_attention(comm, q, k, v, True)}


def several_in_a_row(comm, ring_attention, q, k, v):
    q, k, v = (one.tensor_split(comm.world_size, 2)[comm.rank] for one in (q, k, v))
    first = ring_attention(comm, q, k, v)
    return {
        "a second call": ring_attention(comm, q * 2, k, v + 1, causal=True),
        "one tensor for all": ring_attention(comm, q, q, q),
        "fewer channels": ring_attention(comm, q[..., :1], k[..., :1], v[..., :1]),
        "the first call": first,
    }


def written_to_later(comm, ring_attention, q, k, v):
    own = [one.tensor_split(comm.world_size, 2)[comm.rank].clone() for one in (q, k, v)]
    result = ring_attention(comm, *own)
    for one in own:
        one.fill_(7)
    return result


def counted(comm, spent, ring_attention, q, k, v):
    q, k, v = (one.tensor_split(comm.world_size, 2)[comm.rank].contiguous() for one in (q, k, v))
    spent()  # counts from here on
    ring_attention(comm, q, k, v)
    found = {"all keys": spent()}
    ring_attention(comm, q, k, v, causal=True)
    return found | {"causal": spent()}


# Inputs


def tokens(draw: Draw, world: int, S: int, most: int = 4) -> Arguments:
    """`most` is the largest batch, and the largest number of heads."""
    shape = draw.size(1, most), draw.size(1, 2 * most - 1), S, draw.size(2, 4 * most)
    return {name: draw.normal(*shape) for name in "qkv"} | {"ranks": comm.turns(draw, world)}


def uneven(*worlds: int, low: float = 1, high: float = 3, most: int = 4) -> Inputs:
    """For each W a call; S is drawn between `low` and `high` times W, and W does not divide it."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for world in worlds:
            S = draw.size(max(int(low * world), 1), int(high * world))
            made.append(tokens(draw, world, S + (world > 1 and S % world == 0), most))
        return made

    return inputs


def equal(draw: Draw) -> list[Arguments]:
    """Shards of one size; some of a single token."""
    return [tokens(draw, world, world * n) for world, n in ((3, draw.size(2, 4)), (4, 1), (8, 1), (2, draw.size(2, 4)))]


def large(draw: Draw) -> list[Arguments]:
    """Scores about 1,150 above 0 or below: all of them, or each rank's in its own way."""
    made = []
    for world, signs in ((3, [1, 1, 1]), (2, [-1, -1]), (4, [-1, -1, -1, -1]), (3, [1, -1, -1]), (4, [-1, 1, -1, -1])):
        q, k, v = (draw.normal(1, 2, 2 * world + 1, 4) for _ in range(3))
        q[..., 0] = 48
        for block, sign in zip(k.tensor_split(world, 2), signs, strict=True):
            block[..., 0] = 48 * sign
        made.append({"q": q, "k": k, "v": v, "ranks": comm.turns(draw, world)})
    return made


# Tests


WAYS = ("all keys", "causal")
Found = dict[str, dict[str, comm.Spent]]


def links(result: Found) -> dict[str, Any]:
    """Messages and bytes on each link."""
    ways = {way: {rank: own[way] for rank, own in result.items()} for way in WAYS}
    return {
        way: [[*link, *figures] for link, figures in sorted(comm.links(spent).items())] for way, spent in ways.items()
    }


def above(result: Found, most: int) -> dict[str, list[bool]]:
    """Whether each rank held more than so many bytes."""
    return {way: [own[way]["peak"] > most for own in result.values()] for way in WAYS}


def asked(submission: Submission, draw: Draw, world: int, *shape: int, summary: Any = links) -> dict[str, Any]:
    given = {name: draw.normal(*shape).float() for name in "qkv"}
    found: dict[str, Any] = submission.run(counted, summary=summary, **given, ranks=comm.turns(draw, world))
    return found


def needed(world: int, shape: tuple[int, ...]) -> int:
    """Bytes of all keys and values but one rank's."""
    return 2 * math.prod(shape) * BYTES * (world - 1) // world


@pytest.mark.rules
def test_only_to_one_neighbour(submission: Submission, draw: Draw) -> None:
    """Who sends less than all keys and values but one rank's cannot have the result: something else carries them."""
    for world in (3, 2, 4, 8):
        shape = 1, draw.size(1, 3), world * draw.size(1, 3), draw.size(2, 5)
        found = asked(submission, draw, world, *shape)
        for way, sent in found.items():
            used = {(src, dst) for src, dst, *_ in sent}
            right, left = ({(r, (r + step) % world) for r in range(world)} for step in (1, -1))
            if not (used <= right or used <= left):
                src, dst = min(used - right)
                raise CheckFailed(
                    f"messages ({way}): rank {src} of {world} should send to rank {(src + 1) % world} alone, got one "
                    f"to rank {dst}"
                )
        sizes = {src: size for src, _, _, size in found["all keys"]}
        for rank in range(world):
            if sizes.get(rank, 0) < needed(world, shape):
                raise CheckFailed(
                    f"bytes out of rank {rank} of {world}: should be {needed(world, shape):,}, so that all keys and "
                    f"values travel by messages, got {sizes.get(rank, 0):,}"
                )


@pytest.mark.rules
def test_never_all_keys_on_one_rank(submission: Submission, draw: Draw) -> None:
    """Of eight ranks that share seven tokens, the last has no query. It needs room for the keys that pass alone."""
    world, shape = 8, (4, 4, 7, 64)
    token = math.prod(shape) // shape[2] * BYTES
    found = asked(submission, draw, world, *shape, summary=partial(above, most=11 * token))
    for way, too_much in found.items():
        if too_much[world - 1]:
            raise CheckFailed(
                f"bytes ({way}) that a rank without tokens of its own holds at once: should be at most {11 * token:,}, "
                f"got more; all keys and values are {14 * token:,}"
            )


@pytest.mark.performance
def test_messages_and_bytes(submission: Submission, draw: Draw) -> None:
    for world in (2, 3, 4, 8):
        shape = draw.size(1, 2), draw.size(1, 3), world * draw.size(1, 4), draw.size(2, 6)
        for way, sent in asked(submission, draw, world, *shape).items():
            for src, _, messages, got in sent:
                where = f"out of rank {src} of {world} ({way})"
                problem = comm.at_most(f"messages {where}", messages, 2 * (world - 1))
                problem = problem or comm.at_most(f"bytes {where}", got, needed(world, shape))
                if problem:
                    raise CheckFailed(problem)


@pytest.mark.performance
def test_memory_of_a_rank(submission: Submission, draw: Draw) -> None:
    """Room for twelve shards and for seven blocks of scores; a rank's scores of all keys alone are eight blocks."""
    world, each, d = 8, 64, 16
    most = (12 * each * d + 7 * each * each) * BYTES
    found = asked(submission, draw, world, 1, 1, world * each, d, summary=partial(above, most=most))
    for way, too_much in found.items():
        for rank in range(world):
            if too_much[rank]:
                raise CheckFailed(
                    f"bytes ({way}) of rank {rank} of {world} at once, without its arguments: should be at most "
                    f"{most:,}, got more"
                )


case = partial(Case, scenario=own_tokens)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "ring_attention(comm, q, k, v, causal=False)",
            oracle=with_all_keys,
            half=False,
            cases=(
                case("two_ranks", uneven(2, high=2, most=1)),
                case("more_ranks", uneven(3, 4, 4, 8)),
                case("causal_two_ranks", uneven(2, high=2, most=1), scenario=own_tokens_causal),
                case("causal", uneven(3, 4, 4, 8), scenario=own_tokens_causal),
                case("one_rank", uneven(1, low=2, high=5), scenario=both_ways),
                case("equal_shards", equal, scenario=both_ways),
                case("empty_shards", uneven(4, 8, low=0.3, high=0.7), scenario=both_ways, core=False),
                case("large_scores", large, scenario=both_ways, core=False, tolerance=ROUNDED),
                robust("several_in_a_row", uneven(3, 4, high=2), scenario=several_in_a_row),
                robust("written_to_later", uneven(1, 3, low=2), scenario=written_to_later),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)
