"""What is checked of train_step."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from graders.kata import TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance

# torch clips to max_norm · ‖g‖ / (‖g‖ + 1e-6), and exact clipping is welcome: norms here are above 0.1.
CLIPPED = {torch.float64: Tolerance(3e-5, 3e-5, 1e-7), torch.float32: TOLERANCES[torch.float32]}


def full_batch(model: Any, optimizer: Any, batches: Any, max_norm: float | None = None, scheduler: Any = None) -> float:
    """One loss of all tokens, and one backward."""
    batches = [*batches]
    logits = torch.cat([model(inputs).flatten(0, 1) for inputs, _ in batches])
    loss = F.cross_entropy(logits, torch.cat([targets.flatten() for _, targets in batches]))
    for p in model.parameters():
        p.grad = None
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in gradients]).square().sum().sqrt()
    for g in gradients:
        g *= 1 if max_norm is None else (max_norm / norm).clamp(max=1)
    optimizer.step()
    if scheduler:
        scheduler.step()
    return loss.item()


def trained(
    train_step,
    ids,
    targets,
    sizes,
    emb,
    w,
    u,
    b,
    scale,
    rule="SGD",
    halve=False,
    frozen="",
    old=None,
    still=False,
    form="",
    steps=3,
    **more,
):
    """Steps on the same micro-batches. `old` fills each .grad before; `still` puts the tanh into eval mode.

    The parameters have two axes, one or none.
    """

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb, self.w, self.u, self.unused = (nn.Parameter(p.clone()) for p in (emb, w, u, w))
            self.b, self.scale = (nn.Parameter(p.clone()) for p in (b, scale))
            self.tanh, self.modes = nn.Tanh(), set()

        def forward(self, ids):
            self.modes.add(f"{self.training}, its tanh {self.tanh.training}")
            return self.tanh(self.emb[ids] @ self.w) @ self.u * self.scale + self.b

    class Optimizer(torch.optim.Optimizer):  # without its constructor, which takes seconds to import what it needs
        def __init__(self):
            self.state, self.steps = dict.fromkeys(model.parameters(), (0, 0, 0)), 0
            groups = (([model.emb, model.u, model.b], 0.0), ([model.w, model.unused, model.scale], 0.1))
            self.param_groups = [{"params": params, "lr": 0.2, "weight_decay": decay} for params, decay in groups]

        def zero_grad(self, set_to_none=True):
            for p in self.state:
                p.grad = None if set_to_none or p.grad is None else torch.zeros_like(p)

        def step(self, closure=None):
            self.steps += 1
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        t, m, v = self.state[p]
                        t, m, v = self.state[p] = t + 1, 0.9 * m + p.grad, 0.9 * v + p.grad**2
                        c = (1 - 0.9**t) / 0.1
                        change = m if rule == "SGD" else m / c / ((v / c).sqrt() + 0.01)
                        p.data -= group["lr"] * (change + group["weight_decay"] * p.data)

    class Scheduler:
        def step(self):
            for group in optimizer.param_groups:
                group["lr"] /= 2

    model = Model()
    model.tanh.train(not still)
    for name, p in model.named_parameters():
        p.requires_grad_(name not in frozen.split())
        p.grad = None if old is None else torch.full_like(p, float(old))
    optimizer = Optimizer()
    batches, losses, rates = [], [], []
    for rows, length in sizes:
        start = sum(len(x) for x, _ in batches)
        batch = [x[start : start + rows, :length] for x in (ids, targets)]
        batches.append(batch if form == "parts of longer rows" else [x.contiguous() for x in batch])
    for _ in range(steps):
        given = (batch for batch in batches) if form == "a generator" else batches
        losses.append(train_step(model, optimizer, given, scheduler=Scheduler() if halve else None, **more))
        rates.append(optimizer.param_groups[0]["lr"])
    found = {"the result is a": type(losses[0]).__name__, "losses": emb.new_tensor(losses)}
    found |= {"rates": rates, "steps of the optimizer": optimizer.steps}
    found["model.training in calls"] = "; ".join(sorted(model.modes))
    found["model.training afterwards"] = f"{model.training}, its tanh {model.tanh.training}"
    found["requires gradients"] = ", ".join(name for name, p in model.named_parameters() if p.requires_grad)
    return found | dict(model.named_parameters())


Sizes = tuple[tuple[int, int], ...]  # rows and columns of each micro-batch


def tokens(
    draw: Draw, sizes: Sizes = ((2, 5), (1, 3), (3, 4)), V: int = 6, D: int = 4, std: float = 1, **more: Any
) -> Arguments:
    """Some targets do not count: nearly all of the second micro-batch's. The first target of each row counts.

    With a large std of the last weights, logits are far apart and gradients are long.
    """
    N, S = sum(rows for rows, _ in sizes), max(length for _, length in sizes)
    left_out = draw.uniform(N, S) < 0.3
    left_out[sizes[0][0] :][:1], left_out[:, 0] = True, False
    targets = draw.integers(N, S, high=V).masked_fill(left_out, -100)
    weights = {"emb": draw.normal(V, D), "w": draw.normal(D, D + 1), "u": draw.normal(D + 1, V, std=std)}
    weights |= {"b": draw.normal(V), "scale": draw.uniform(low=0.5, high=2)}
    return {"ids": draw.integers(N, S, high=V), "targets": targets, "sizes": [*map(list, sizes)], **weights, **more}


def drawn(draw: Draw, V: int, D: int) -> Arguments:
    """Of sizes, a number of micro-batches and a max_norm that the seed draws."""
    sizes = [(draw.size(1, 4), draw.size(2, 9)) for _ in range(draw.size(2, 6))]
    return tokens(draw, tuple(sizes), V, D, max_norm=draw.number(0.15, 0.9), halve=True)


def padding_alone(draw: Draw) -> list[Arguments]:
    """In the first micro-batch, the second or the last."""
    made = [tokens(draw, ((2, 4), (2, 4), (2, 4)), rule=rule) for rule in ("SGD", "AdamW", "SGD")]
    for place, one in enumerate(made):
        one["targets"][2 * place : 2 * place + 2] = -100
    return made


def nothing_counts(draw: Draw) -> list[Arguments]:
    made = tokens(draw)
    return [made | {"targets": made["targets"] * 0 - 100}, made | {"sizes": []}]


def case(name: str, *changes: Arguments, inputs: Inputs | None = None, **options: Any) -> Case:
    return Case(name, inputs or (lambda draw: [tokens(draw, **one) for one in changes]), scenario=trained, **options)


OTHER = (((3, 4),), ((1, 1), (1, 9)), ((4, 2), (1, 7), (1, 1), (2, 6), (1, 3)))
BOTH = ({"rule": "SGD"}, {"rule": "AdamW"})
CLIPS = ({"max_norm": 0.1}, {"max_norm": 1, "std": 8.0})
LEFT = [{"old": old, "frozen": frozen, "max_norm": 0.3} for old in (100, "nan") for frozen in ("", "w")]
ALL_ZERO = {"V": 1, "old": 100, "max_norm": 0.3}  # of one class, the probability is 1
GRADER = Grader(
    answers=(
        Answer(
            "train_step(model, optimizer, batches, max_norm=None, scheduler=None)",
            oracle=full_batch,
            half=False,
            records=True,
            cases=(
                case("three_micro_batches", {}),
                case("adamw", {"rule": "AdamW"}),
                case("other_sizes", *({"sizes": sizes} for sizes in OTHER)),
                case("drawn_sizes", inputs=drawn, sizes={"V": (4, 12), "D": (2, 8)}, tolerance=CLIPPED),
                case("clipped", *(n | rule for n in CLIPS for rule in BOTH), tolerance=CLIPPED),
                case("not_clipped", {"max_norm": 100.0}, {"max_norm": 100}),
                case("scheduler", {"halve": True}, {"halve": True, "max_norm": 0.5, **BOTH[1]}, tolerance=CLIPPED),
                case("frozen_parameters", {"frozen": "w"}, {"frozen": "emb u", "rule": "AdamW"}),
                case("padding_alone", inputs=padding_alone, core=False),
                case("any_iterable", {"form": "a generator"}, core=False),
                case("parts_of_longer_rows", {"form": "parts of longer rows"}, category="robustness"),
                case("stale_gradients", *LEFT, ALL_ZERO, category="robustness", tolerance=CLIPPED),
                case("mode_kept", {"still": True}, category="robustness"),
                case("nothing_counts", inputs=nothing_counts, raises=ValueError),
                case("max_norm_not_above_0", *({"max_norm": n} for n in (0, 0.0, -1.0)), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_micro_batches",
                    sizes={"micro_batches": (4, 16)},
                    inputs=lambda draw, micro_batches: tokens(draw, ((8, 64),) * micro_batches, V=64, D=16, steps=1),
                    asks=("memory",),
                    scenario=trained,
                    peak=3,
                    hints={"micro_batches": "call backward for each, which frees its graph before the next is made"},
                ),
            ),
        ),
    ),
)
