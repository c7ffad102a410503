"""What is checked of schedule and run_stage."""

from collections import defaultdict, deque
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Case, CheckFailed, Draw, Grader, Inputs, Submission, comm

BYTES = 4  # of a float32


def one_forward_one_backward(stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    """A forward pass whenever fewer than stages - stage microbatches are under way; else a backward pass."""
    assert min(stages, microbatches) > 0
    assert 0 <= stage < stages
    steps: list[tuple[str, int]] = []
    forward = backward = 0
    while backward < microbatches:
        if forward < microbatches and forward - backward < stages - stage:
            steps.append(("F", forward))
            forward += 1
        else:
            steps.append(("B", backward))
            backward += 1
    return steps


def all_forward_all_backward(comm: Any, module: Any, inputs: list[Any], loss_fn: Any) -> float | None:
    """The same values at any cost: all microbatches forward, then one backward pass of their mean loss."""
    r, last, m = comm.rank, comm.world_size - 1, len(inputs)
    came = [inputs[i] if r == 0 else comm.recv(r - 1).requires_grad_() for i in range(m)]
    went = [module(one) for one in came]
    if r < last:
        for one in went:
            comm.send(one, r + 1)
        torch.stack([(one * comm.recv(r + 1)).sum() for one in went]).sum().backward()
    else:
        mean = torch.stack([loss_fn(one, i) for i, one in enumerate(went)]).mean()
        mean.backward()
    for one in came:
        if r > 0:
            comm.send(one.grad, r - 1)
    return mean.item() if r == last else None


# Scenarios: each rank makes its own stage, Linear(widths[r], widths[r + 1]) and tanh, of the corner of w[r].


def trained(comm, run_stage, x, rows, targets, w, b, widths):
    r = comm.rank
    module = nn.Sequential(nn.Linear(widths[r], widths[r + 1]), nn.Tanh()).to(w.dtype)
    own = {"0.weight": w[r, : widths[r + 1], : widths[r]], "0.bias": b[r, : widths[r + 1]]}
    module.load_state_dict(own)
    inputs = [*x.split(rows)] if r == 0 else [None] * len(rows)
    right = targets.split(rows)
    loss = run_stage(comm, module, inputs, lambda y, i: F.mse_loss(y, right[i]))
    return {"loss": loss, **{f"gradient of {name}": one.grad for name, one in module.named_parameters()}}


def tokens(comm, run_stage, ids, table, w, targets):
    """The first stage is an embedding; the loss is a cross-entropy."""
    last = comm.rank == comm.world_size - 1
    if comm.rank == 0:
        module = nn.Embedding(*table.shape, _weight=table.clone())
    else:
        module = nn.Linear(w.shape[1], w.shape[0] if last else w.shape[1], bias=False).to(w.dtype)
        module.load_state_dict({"weight": w if last else torch.eye(w.shape[1], dtype=w.dtype) * 2})
    inputs = [*ids] if comm.rank == 0 else [None] * len(ids)
    loss = run_stage(comm, module, inputs, lambda y, i: F.cross_entropy(y, targets[i]))
    return {"loss": loss, "gradient": next(iter(module.parameters())).grad}


def twice(comm, run_stage, x, rows, targets, w, b):
    """Two steps of gradient descent; a weight of each stage is frozen."""
    r = comm.rank
    module = nn.Sequential(nn.Linear(*w.shape[1:]), nn.Tanh(), nn.Linear(*w.shape[1:], bias=False)).to(w.dtype)
    module.load_state_dict({"0.weight": w[r], "0.bias": b[r], "2.weight": w[r].mT})
    module[2].weight.requires_grad_(False)
    inputs = [*x.split(rows)] if r == 0 else [None] * len(rows)
    right, found, called = targets.split(rows), {}, []

    def loss_fn(y, i):
        called.append(i)
        return F.mse_loss(y, right[i])

    for time in ("first", "second"):
        found[f"the {time} loss"] = run_stage(comm, module, inputs, loss_fn)
        with torch.no_grad():
            for one in module.parameters():
                if one.grad is not None:
                    one -= one.grad
        module.zero_grad()
    left = sum(one is None for one in inputs) if r else float(torch.cat(inputs).sum())
    wanted = [one.requires_grad for one in inputs if one is not None]
    return {
        **found,
        "weights": module[0].weight.detach(),
        "inputs": left,
        "want gradients": wanted,
        "losses of": called,
    }


def observed(comm, spent, run_stage, x, rows, targets, w, b):
    """What each rank does, in order: its messages, F and B."""
    r, done = comm.rank, []

    def note(what):
        done.extend([*[[row[0], row[1]] for row in spent()["did"]], [what, -1]])

    class Marked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            return y.view_as(y)

        @staticmethod
        def backward(ctx, grad):
            note("B")
            return grad

    class Stage(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(*w.shape[1:]).to(w.dtype)
            self.inner.load_state_dict({"weight": w[r], "bias": b[r]})

        def forward(self, x):
            y = self.inner(x)
            note("F")
            return Marked.apply(y)

    inputs = [*x.split(rows)] if r == 0 else [None] * len(rows)
    right = targets.split(rows)
    module = Stage()
    spent()  # counts from here on
    run_stage(comm, module, inputs, lambda y, i: F.mse_loss(y, right[i]))
    note("end")
    return {"done": done}


def held(comm, spent, run_stage, x, rows, targets, w, b):
    """The most bytes that each rank holds, beyond its arguments."""
    r = comm.rank
    module = nn.Sequential(nn.Linear(*w.shape[1:]), nn.Tanh()).to(w.dtype)
    module.load_state_dict({"0.weight": w[r], "0.bias": b[r]})
    inputs = [*x.split(rows)] if r == 0 else [None] * len(rows)
    right = targets.split(rows)
    spent()  # counts from here on
    run_stage(comm, module, inputs, lambda y, i: (y - right[i]).square().mean())
    return spent()


# Inputs


def model(draw: Draw, world: int, m: int, rows: tuple[int, int] = (1, 3), wide: bool = False) -> Arguments:
    """`wide`: all stages have one width, as two of the scenarios want it."""
    lengths = [draw.size(*rows) for _ in range(m)]
    widths = [draw.size(2, 4)] * (world + 1) if wide else [draw.size(1, 4) for _ in range(world + 1)]
    most = max(widths)
    made: Arguments = {
        "x": draw.normal(sum(lengths), widths[0]),
        "rows": lengths,
        "targets": draw.normal(sum(lengths), widths[-1]),
        "w": draw.normal(world, most, most),
        "b": draw.normal(world, most),
        "ranks": comm.turns(draw, world),
    }
    return made if wide else made | {"widths": widths}


def pipelines(*worlds: int, few: bool = False) -> Inputs:
    """For each W a call: with fewer microbatches than stages if `few`, else with as many or more."""

    def inputs(draw: Draw) -> list[Arguments]:
        return [
            model(draw, world, draw.size(1, max(world - 1, 1)) if few else draw.size(world, world + 2))
            for world in worlds
        ]

    return inputs


def of_tokens(draw: Draw) -> list[Arguments]:
    made = []
    for world in (2, 3):
        m, rows, vocab, dim = draw.size(2, 4), draw.size(2, 3), draw.size(3, 6), draw.size(2, 4)
        made.append(
            {
                "ids": draw.integers(m, rows, high=vocab),
                "table": draw.normal(vocab, dim),
                "w": draw.normal(vocab, dim),
                "targets": draw.integers(m, rows, high=vocab),
                "ranks": comm.turns(draw, world),
            }
        )
    return made


def in_float32(given: Arguments) -> Arguments:
    return {name: one.float() if isinstance(one, Tensor) else one for name, one in given.items()}


def wide(*worlds: int) -> Inputs:
    return lambda draw: [model(draw, world, draw.size(2, world + 2), wide=True) for world in worlds]


def stages(few: bool = False) -> Inputs:
    """Every stage of some pipelines; with fewer microbatches than stages if `few`."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for p in (1, 2, 3, 4, 8, draw.size(5, 12)):
            m = draw.size(1, max(p - 1, 1)) if few else draw.size(p, p + 6)
            made += [{"stage": stage, "stages": p, "microbatches": m} for stage in range(p)]
        return made

    return inputs


def refused(draw: Draw) -> list[Arguments]:
    p, m = draw.size(2, 6), draw.size(2, 6)
    bad = [(p, p, m), (-1, p, m), (0, 0, m), (0, p, 0), (-p, p, m), (p + 1, p, m), (0, -1, m), (0, p, -m)]
    return [{"stage": stage, "stages": stages, "microbatches": m} for stage, stages, m in bad]


# Tests


def in_flight(done: list[list[Any]]) -> int:
    """The most microbatches that are forward and not yet backward."""
    now = most = 0
    for what, _ in done:
        now += (what == "F") - (what == "B")
        most = max(most, now)
    return most


def duration(ranks: list[list[list[Any]]]) -> int:
    """When the last rank is done, if F and B take 1 each, and messages no time."""
    clock = [0] * len(ranks)
    arriving: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    pending, before = [deque(done) for done in ranks], -1
    while (left := sum(map(len, pending))) != before:
        before = left
        for rank, own in enumerate(pending):
            while own and not (own[0][0] == "recv" and not arriving[own[0][1], rank]):
                what, other = own.popleft()
                if what == "recv":
                    clock[rank] = max(clock[rank], arriving[other, rank].popleft())
                elif what == "send":
                    arriving[rank, other].append(clock[rank])
                elif what in "FB":
                    clock[rank] += 1
    return max(clock)


def course(result: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Of each stage, its forward passes and the most microbatches in flight; and how long all stages took."""
    ranks = [list(own["done"]) for own in result.values()]
    passes = [sum(what == "F" for what, _ in done) for done in ranks]
    return {"passes": passes, "in flight": [in_flight(done) for done in ranks], "time": duration(ranks)}


def asked(submission: Submission, draw: Draw, world: int, m: int) -> dict[str, Any]:
    given = in_float32(model(draw, world, m, wide=True))
    found: dict[str, Any] = submission.run(observed, summary=course, **given)
    for rank, passes in enumerate(found["passes"]):
        if passes != m:
            raise CheckFailed(
                f"forward passes of stage {rank} of {world}: should be {m}, one for each microbatch, got {passes}"
            )
    return found


PIPELINES = ((4, 6), (2, 5), (3, 2), (8, 8))  # numbers of stages and microbatches, of which more are drawn


def drawn(draw: Draw) -> list[tuple[int, int]]:
    return [(world, m + draw.size(0, 1)) for world, m in PIPELINES]


@pytest.mark.rules
def test_microbatches_in_flight(submission: Submission, draw: Draw) -> None:
    """All forward passes before the first backward pass would be right, but hold all microbatches."""
    for world, m in drawn(draw):
        found = asked(submission, draw, world, m)
        for rank in range(world):
            got, most = found["in flight"][rank], min(world - rank, m)
            problem = comm.at_most(f"microbatches in flight on stage {rank} of {world}, with {m} in all", got, most)
            if problem:
                raise CheckFailed(problem)


@pytest.mark.rules
def test_time_of_the_pipeline(submission: Submission, draw: Draw) -> None:
    for world, m in drawn(draw):
        got, most = asked(submission, draw, world, m)["time"], 2 * (m + world - 1)
        if got > most:
            raise CheckFailed(
                f"time of {m} microbatches in {world} stages: should be at most 2(m + p − 1) = {most} passes, got {got}"
            )


def links(spent: comm.Spent) -> list[list[int]]:
    """Messages and bytes on each link."""
    return [[*link, *figures] for link, figures in sorted(comm.links(spent).items())]


def above(spent: comm.Spent, most: list[int]) -> list[bool]:
    """Whether each rank held more than so many bytes."""
    return [peak > one for peak, one in zip(comm.peaks(spent), most, strict=True)]


@pytest.mark.rules
def test_only_between_neighbours(submission: Submission, draw: Draw) -> None:
    """Activations go to the next rank, gradients to the one before, and nothing else carries them."""
    for world in (3, 2, 4):
        given = in_float32(model(draw, world, draw.size(2, 5), rows=(2, 2), wide=True))
        found = submission.run(held, summary=links, **given)
        size = given["x"].numel() * BYTES
        right = {(r, other) for r in range(world) for other in (r - 1, r + 1) if 0 <= other < world}
        got = {(src, dst): sizes for src, dst, _, sizes in found}
        for src, dst in sorted({*got} - right)[:1]:
            raise CheckFailed(f"messages: should be between neighbouring stages, got one from rank {src} to rank {dst}")
        for src, dst in sorted(right):
            if got.get((src, dst), 0) < size:
                raise CheckFailed(
                    f"bytes from rank {src} to rank {dst}: should be {size:,}, so that all activations and gradients "
                    f"travel by messages, got {got.get((src, dst), 0):,}"
                )


@pytest.mark.performance
def test_messages_and_bytes(submission: Submission, draw: Draw) -> None:
    for world in (2, 3, 8):
        m = draw.size(2, 6)
        given = in_float32(model(draw, world, m, wide=True))
        for src, dst, messages, got in submission.run(held, summary=links, **given):
            problem = comm.at_most(f"messages from rank {src} to rank {dst}, of {m} microbatches", messages, m)
            problem = problem or comm.at_most(f"bytes from rank {src} to rank {dst}", got, given["x"].numel() * BYTES)
            if problem:
                raise CheckFailed(problem)


@pytest.mark.performance
def test_memory_of_a_stage(submission: Submission, draw: Draw) -> None:
    """Room for four activations of each microbatch in flight, and eighteen more; all microbatches have 48 and more."""
    world, m, rows, dim = 3, 24, 32, 32
    given = {
        "x": draw.normal(m * rows, dim),
        "rows": [rows] * m,
        "targets": draw.normal(m * rows, dim),
        "w": draw.normal(world, dim, dim) / dim**0.5,
        "b": draw.normal(world, dim),
    }
    most = [(4 * (world - rank) + 18) * rows * dim * BYTES for rank in range(world)]
    summary = partial(above, most=most)
    too_much = submission.run(held, summary=summary, **in_float32(given), ranks=comm.turns(draw, world))
    for rank in range(world):
        if too_much[rank]:
            raise CheckFailed(
                f"bytes that stage {rank} of {world} holds at once, with {m} microbatches: should be at most "
                f"{most[rank]:,}, got more"
            )


case = partial(Case, scenario=trained)
alone = partial(Case, dtypes=(torch.float64,))
GRADER = Grader(
    answers=(
        Answer(
            "schedule(stage, stages, microbatches)",
            oracle=one_forward_one_backward,
            half=False,
            cases=(
                Case("every_stage", stages()),
                Case("fewer_microbatches", stages(few=True)),
                Case("outside", refused, raises=ValueError),
            ),
        ),
        Answer(
            "run_stage(comm, module, inputs, loss_fn)",
            oracle=all_forward_all_backward,
            half=False,
            records=True,
            cases=(
                case("two_stages", pipelines(2)),
                case("more_stages", pipelines(3, 4, 8)),
                case("one_stage", pipelines(1)),
                case("few_microbatches", pipelines(2, 3, 4, 8, few=True)),
                alone("tokens", of_tokens, scenario=tokens, core=False),
                alone("twice", wide(1, 2, 3), scenario=twice, category="robustness"),
            ),
        ),
    ),
)
