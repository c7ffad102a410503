"""What is checked of vocab_parallel_cross_entropy."""

from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

CALLS = 3  # collectives of a rank, to which it gives that many numbers a row
MORE = 5  # times as many numbers as rows: from here on, all are alike


def from_all_columns(group: Any, logits: Tensor, labels: Tensor, vocab_size: int) -> Tensor:
    """Gathers all columns, of which the rank's own keep their graph."""
    assert ((labels >= 0) & (labels < vocab_size)).all()
    parts = group.all_gather(logits)
    parts[group.rank] = logits
    return F.cross_entropy(torch.cat(parts, 1), labels, reduction="none")


# Scenarios: each rank takes its columns.


def loss_and_gradient(group, vocab_parallel_cross_entropy, logits, labels, g):
    own = logits.tensor_split(group.world_size, 1)[group.rank].clone().requires_grad_()
    loss = vocab_parallel_cross_entropy(group, own, labels, logits.shape[1])
    (loss * g).sum().backward()
    return {"loss": loss.detach(), "gradient": own.grad}


def modes(group, vocab_parallel_cross_entropy, logits, labels):
    """Without gradients, with strided logits, and again; then a mean, whose gradient is expanded."""
    V = logits.shape[1]
    own = logits.tensor_split(group.world_size, 1)[group.rank]
    labels = labels.clone()
    found = {"without gradients": vocab_parallel_cross_entropy(group, own, labels, V)}
    strided = own.mT.contiguous().mT.detach().requires_grad_()
    with torch.no_grad():
        found["under no_grad"] = vocab_parallel_cross_entropy(group, strided, labels, V)
    with torch.enable_grad():
        vocab_parallel_cross_entropy(group, strided, labels, V).mean().backward()
    return {**found, "gradient of the mean": strided.grad, "logits": strided.detach(), "labels": labels}


def two_losses(group, vocab_parallel_cross_entropy, logits, labels, g):
    """Before one backward: of half of the columns first, then of all."""
    whole = [logits[:, : logits.shape[1] // 2], logits]
    own = [one.tensor_split(group.world_size, 1)[group.rank].clone().requires_grad_() for one in whole]
    first = vocab_parallel_cross_entropy(group, own[0], labels % whole[0].shape[1], whole[0].shape[1])
    second = vocab_parallel_cross_entropy(group, own[1], labels, logits.shape[1])
    (first * second * g).sum().backward()
    return {"gradient of the first": own[0].grad, "gradient of the second": own[1].grad}


def two_backwards(group, vocab_parallel_cross_entropy, logits, labels, g):
    own = logits.tensor_split(group.world_size, 1)[group.rank].clone().requires_grad_()
    total = (vocab_parallel_cross_entropy(group, own, labels, logits.shape[1]) * g).sum()
    total.backward(retain_graph=True)
    first, own.grad = own.grad.clone(), None
    total.backward()
    return {"gradient": first, "gradient of a second backward": own.grad}


def refused(group, vocab_parallel_cross_entropy, logits, labels):
    own = logits.tensor_split(group.world_size, 1)[group.rank]
    return vocab_parallel_cross_entropy(group, own, labels, logits.shape[1])


def counted(group, spent, vocab_parallel_cross_entropy, logits, labels, g):
    own = logits.tensor_split(group.world_size, 1)[group.rank].clone().requires_grad_()
    spent()  # counts from here on
    loss = vocab_parallel_cross_entropy(group, own, labels, logits.shape[1])
    found = {"forward": spent()}
    (loss * g).sum().backward()
    return {**found, "backward": spent()}


# Inputs


def rows(
    draw: Draw, world: int, V: int, N: int = 0, g: bool = True, mean: float = 0.0, std: float = 2.0, **more: Any
) -> Arguments:
    N = N or draw.size(3, 12)
    made: Arguments = {
        "logits": draw.normal(N, V, std=std, mean=mean),
        "labels": draw.integers(N, high=V),
        "ranks": comm.turns(draw, world),
    }
    return made | ({"g": draw.normal(N)} if g else {}) | more


def even(*worlds: int, **options: Any) -> Inputs:
    return lambda draw: [rows(draw, world, world * draw.size(2, 4), **options) for world in worlds]


def uneven(draw: Draw) -> list[Arguments]:
    """Columns that W does not divide; each rank has some."""
    return [rows(draw, world, world * draw.size(1, 3) + draw.size(1, world - 1)) for world in (2, 3, 4, 8)]


def far(draw: Draw) -> list[Arguments]:
    """Logits of about 10,000 in size: far from each other, and all near 10,000, above or below 0."""
    kinds = ((3, {"std": 1e4}), (2, {"mean": 1e4}), (4, {"mean": -1e4}))
    return [rows(draw, world, world * draw.size(2, 4), **one) for world, one in kinds]


def few(draw: Draw) -> list[Arguments]:
    """Some ranks have no column; at last, all logits are far below 0."""
    made = [rows(draw, world, draw.size(2, world - 1)) for world in (4, 8)]
    return [*made, rows(draw, 2, 1), rows(draw, 3, 2, mean=-1e4)]


def labels_outside(draw: Draw) -> list[Arguments]:
    made = []
    for world, V, wrong in ((2, 6, 6), (3, 7, -1), (4, 9, 9 + draw.size(1, 90)), (1, 5, 5), (2, 8, -100), (8, 4, 4)):
        given = rows(draw, world, V, g=False)
        given["labels"][draw.size(0, len(given["labels"]) - 1)] = wrong
        made.append(given)
    return made


# Tests


def in_float32(given: Arguments) -> Arguments:
    return given | {"logits": given["logits"].float(), "g": given["g"].float()}


def given_by_ranks(result: dict[str, dict[str, comm.Spent]]) -> list[tuple[int, int, int]]:
    """Of each rank: how many collectives it begins, and the numbers and bytes that it gives to them."""
    phases = [comm.given({rank: own[phase] for rank, own in result.items()}) for phase in ("forward", "backward")]
    return [(one[0] + other[0], one[1] + other[1], one[2] + other[2]) for one, other in zip(*phases, strict=True)]


def what_travels(rows: int, columns: int, result: Any) -> str:
    """What is wrong with the bytes of a rank, if anything is: columns that travel, or numbers that do not."""
    sizes = [size for *_, size in given_by_ranks(result)]
    if max(sizes) >= rows * columns * 2:  # half a float32 for each logit
        return "bytes that a rank gives to comm: should not grow with its columns, got as many as for half of them"
    if min(sizes) < rows * 4:
        return "bytes that a rank gives to comm: should be at least a number for each row, or comm carries no sum"
    return ""


@pytest.mark.rules
def test_columns_stay(submission: Submission, draw: Draw) -> None:
    for world in (2, 4):
        N, columns = draw.size(3, 5), 64
        summary = partial(what_travels, N, columns)
        problem = submission.run(counted, summary=summary, **in_float32(rows(draw, world, world * columns, N)))
        if problem:
            raise CheckFailed(problem)


def figures(rows: int, result: Any) -> dict[str, int]:
    """At most what is allowed counts as that, so that all ways that are cheap enough look the same."""
    own = given_by_ranks(result)
    each = max(-(-numbers // rows) for _, numbers, _ in own)
    return {"calls": max(CALLS, *(calls for calls, *_ in own)), "numbers a row": min(MORE, max(CALLS, each))}


@pytest.mark.performance
def test_collectives(submission: Submission, draw: Draw) -> None:
    for world in (2, 8):
        N = draw.size(3, 9)
        given = in_float32(rows(draw, world, world * draw.size(8, 9), N))
        found = submission.run(counted, summary=partial(figures, N), **given)
        if found["calls"] > CALLS:
            raise CheckFailed(f"collectives of a rank: should be at most {CALLS}, got {found['calls']}")
        if found["numbers a row"] > CALLS:
            got = f"{found['numbers a row']}{' or more' * (found['numbers a row'] == MORE)}"
            raise CheckFailed(f"numbers that a rank gives to comm, for each row: should be at most {CALLS}, got {got}")


def peak(most: int, result: Any) -> str:
    held = max(own[phase]["peak"] for own in result.values() for phase in ("forward", "backward"))
    return "too much" if held > most else ""


@pytest.mark.performance
def test_memory(submission: Submission, draw: Draw) -> None:
    """At most twelve times the rank's logits. All ranks have eight times as many."""
    world, N, columns = 8, 16, 256
    most = 12 * N * columns * 4 + 8192
    if submission.run(counted, summary=partial(peak, most), **in_float32(rows(draw, world, world * columns, N))):
        raise CheckFailed(f"bytes that a rank holds: should be at most {most:,}, twelve times its logits, got more")


case = partial(Case, scenario=loss_and_gradient)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "vocab_parallel_cross_entropy(comm, logits, labels, vocab_size)",
            oracle=from_all_columns,
            half=False,
            records=True,
            cases=(
                case("two_ranks", even(2)),
                case("more_ranks", even(3, 4, 8)),
                case("one_rank", even(1)),
                case("uneven_shards", uneven),
                case("far_logits", far, dtypes=(torch.float64,)),
                case("fewer_columns_than_ranks", few, dtypes=(torch.float64,), core=False),
                robust("modes", even(2, 3, g=False), scenario=modes),
                robust("two_losses", even(2, 4), scenario=two_losses),
                robust("two_backwards", even(2, 3), scenario=two_backwards),
                Case("labels_outside", labels_outside, scenario=refused, raises=ValueError),
            ),
        ),
    ),
)
