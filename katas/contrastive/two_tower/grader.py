"""What is checked of TwoTower."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import (
    HALF,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    two_views,
)


def parameters(user_dim: int, item_dim: int, hidden_dim: int, **rest: float) -> dict[str, tuple[int, ...]]:
    widths = {"user_tower": user_dim, "item_tower": item_dim}
    biases: dict[str, tuple[int, ...]] = {f"{tower}.bias": (hidden_dim,) for tower in widths}
    return biases | {f"{tower}.weight": (hidden_dim, width) for tower, width in widths.items()}


def oracle(own, user, item, log_q=None, item_ids=None, temperature=0.05, **dims):
    """Each user's candidates are its own item, and the items of the batch that differ from it."""
    u, v = (x @ own[f"{t}.weight"].T + own[f"{t}.bias"] for t, x in (("user_tower", user), ("item_tower", item)))
    z = u @ v.T / u.norm(dim=1)[:, None] / v.norm(dim=1) / temperature - (0 if log_q is None else log_q)
    ids = torch.arange(len(z)) if item_ids is None else item_ids
    candidates = [(ids != one).index_fill(0, torch.tensor(i), True) for i, one in enumerate(ids)]
    return torch.stack([row[candidates[i]].logsumexp(0) - row[i] for i, row in enumerate(z)]).mean()


def pairs(draw: Draw, B: int, std: float = 1.0, dims: tuple[int, int] = (3, 4), **options: Tensor) -> Arguments:
    return {"user": draw.normal(B, dims[0], std=std), "item": draw.normal(B, dims[1], std=std), **options}


def with_options(B: int, **how: Any) -> Inputs:
    """No option, each one, and both; some items come again. Halves for log_q are exact in every dtype."""

    def inputs(draw: Draw) -> list[Arguments]:
        q, ids = {"log_q": draw.integers(B, low=-8, high=1) / 2.0}, {"item_ids": draw.permutation(B) % max(B - 2, 1)}
        return [pairs(draw, B, **how, **options) for options in ({}, q, ids, q | ids)]

    return inputs


def sizes(draw: Draw) -> list[Arguments]:
    """As many pairs as a user, an item and an embedding have entries, fewer, and more."""
    return [one for B in (1, 2, 5, 9, 48) for one in with_options(B, dims=(5, 5))(draw)[::3]]


def rare_items(draw: Draw) -> list[Arguments]:
    """Shares from 1 down to e⁻⁴⁰, logs of counts in place of shares, and one number for all items."""
    listed = ([0, -40, -3, -17], [7, 2, 0, 12], [40, 2, 25, 12], [-2.5] * 4, [9] * 4, [1e-3, -2e-3, 0, 0.3])
    return [pairs(draw, 4, log_q=torch.tensor(one, dtype=torch.float64)) for one in listed]


def kinds_of_ids(draw: Draw) -> list[Arguments]:
    """0 and −1 are ids like any other, a float would not tell hashes apart, and what looks alike may be two."""
    hashes = [2**62 + 1, 2**62, 2**62 + 1, 2**62 + 2, -(2**62)]
    listed = ([0, 0, -1, -1, 5], [3, 1, 3, 3, 3], [2, 0, 1, 4, 3], hashes, [2**24, 2**24 + 1, 7, 2**24, 2**24 + 1])
    kinds = [torch.tensor([1, 2, 1, 127, 2], dtype=one) for one in (torch.uint8, torch.int8, torch.int16, torch.int32)]
    kinds.append(torch.tensor(listed[-1], dtype=torch.int32))
    alike = {"user": draw.normal(5, 3)[[0, 1, 2, 3, 3]], "item": draw.normal(5, 4)[[0, 0, 2, 3, 4]]}
    return [{**alike, "item_ids": ids} for ids in (*map(torch.tensor, listed), *kinds)]


def one_item(draw: Draw) -> list[Arguments]:
    """Nobody has a negative, with or without a correction: the loss is 0, and so are the gradients."""
    same, log_q = torch.full((4,), 6), draw.normal(4, std=5.0)
    only = [pairs(draw, 1), pairs(draw, 1, log_q=log_q[:1])]
    return [*only, pairs(draw, 4, item_ids=same), pairs(draw, 4, item_ids=same, log_q=log_q)]


def opposite(draw: Draw) -> list[Arguments]:
    """Embeddings of one number, 1 or −1 when normalised: own items are often the worst of all, or the only one left."""
    made = with_options(8, std=5.0)(draw)
    return [*made, *(one | {"item_ids": torch.zeros(8, dtype=torch.int64)} for one in made[:2])]


def rows_differ(draw: Draw) -> list[Arguments]:
    return [pairs(draw, 4) | {side: pairs(draw, B)[side]} for side in ("user", "item") for B in (1, 3, 5, 8)]


def other_shapes(name: str, unit: float) -> Inputs:
    shapes = [(), (1,), (3,), (5,), (8,), (4, 1), (1, 4), (4, 4)]
    return lambda draw: [pairs(draw, 4, **{name: unit * draw.integers(*shape, high=3)}) for shape in shapes]


def rounded_at(temperature: float) -> dict[torch.dtype, Tolerance]:
    """A cosine of half precision is off by half an epsilon, a logit by that over τ, and a gradient by some of these."""
    off = {dtype: torch.finfo(dtype).eps / 2 / temperature * 6 for dtype in HALF}
    return {dtype: Tolerance(0.0, off[dtype], off[dtype]) for dtype in HALF}


def at(hidden_dim: int = 6, user_dim: int = 3, item_dim: int = 4, **rest: float) -> Any:
    return partial(Case, init={"user_dim": user_dim, "item_dim": item_dim, "hidden_dim": hidden_dim, **rest})


robust = {"category": "robustness"}
in_half = {"dtypes": HALF, "gradients": "finite", "tolerance": rounded_at(0.05), **robust}
thousandfold = two_views.THOUSANDFOLD | {torch.float32: Tolerance(1e-4, 3e-3, 3e-3)}
refused = {"raises": ValueError}
BUDGET = Budget(
    "many_pairs",
    sizes={"pairs": (64, 256), "features": (16, 64)},
    inputs=lambda draw, pairs, features: with_options(pairs, dims=(8, 8))(draw)[3],
    init=lambda pairs, features: at(features, 8, 8, temperature=0.1).keywords["init"],
    hints={"pairs": "work on the whole (B, B) table", "features": "multiply matrices, do not broadcast and sum"},
    peak=10,  # some masks and copies of the table are welcome
)
CASES = (
    at(temperature=0.5)("six_pairs", lambda draw: pairs(draw, 6)),
    at(temperature=0.5)("corrections", with_options(6), half=True),
    at()("default_temperature", with_options(5)),
    at(temperature=4)("temperature_of_four", with_options(5)),
    at(5, 5, 5, temperature=0.3)("sizes", sizes),
    Case(
        "any_size",
        lambda draw, B, user, item, hidden: with_options(B, dims=(user, item))(draw),
        init=lambda user, item, hidden, B: {
            "user_dim": user,
            "item_dim": item,
            "hidden_dim": hidden,
            "temperature": 0.3 + B / 100,
        },
        sizes={"B": (3, 12), "user": (2, 9), "item": (2, 9), "hidden": (7, 12)},
    ),
    at(temperature=0.5)("rare_items", rare_items),
    at(temperature=0.5)("kinds_of_ids", kinds_of_ids, core=False),
    at(temperature=0.5)("one_item", one_item),
    at(temperature=1e-3)("small_temperature", with_options(6), tolerance=thousandfold, **robust),
    at(1, temperature=1e-5)("opposite_embeddings", opposite, dtypes=(torch.float64,), gradients="finite", **robust),
    at()("small_temperature_in_half", with_options(6), **in_half),
    at(temperature=1e-3)("tiny_temperature_in_half", with_options(6), **in_half | {"tolerance": rounded_at(1e-3)}),
    # The norms are about 1600, and their squares beyond the 65 504 of float16.
    at(64, temperature=0.5)("norm_fits_float16", with_options(4, std=200.0), dtypes=(torch.float16,), **robust),
    at(temperature=0)("temperature_zero", None, **refused),
    at(temperature=-0.05)("temperature_below_0", None, **refused),
    at()("rows_differ", rows_differ, **refused),
    at()("log_q_of_another_shape", other_shapes("log_q", 1.0), **refused),
    at()("item_ids_of_another_shape", other_shapes("item_ids", 1), **refused),
)
GRADER = Grader(
    answers=(
        Answer(
            "TwoTower(user_dim, item_dim, hidden_dim, temperature=0.05)",
            forward="forward(user, item, log_q=None, item_ids=None)",
            oracle=oracle,
            parameters=parameters,
            differentiable=("user", "item"),
            tolerance=rounded_at(0.5),
            budgets=(BUDGET,),
            cases=CASES,
        ),
    ),
)


def numbers_of_entries(TwoTower, temperature):
    return {"entries": sorted(one.numel() for one in TwoTower(2, 3, 5, temperature).parameters())}


def test_only_the_towers_have_parameters(submission: Submission, draw: Draw) -> None:
    right = [5, 5, 10, 15]
    entries = submission.run(numbers_of_entries, temperature=0.05, like={"entries": right})["entries"]
    assert entries == right, (
        f"numbers of entries of the parameters of TwoTower(2, 3, 5): should be {right}, got {entries}"
    )


def what_learns(TwoTower, user, item, frozen):
    model = TwoTower(3, 4, 5).to(user)
    getattr(model, frozen).requires_grad_(False)
    inputs = {"user": user.clone().requires_grad_(), "item": item.clone().requires_grad_()}
    model(**inputs).backward()
    leaves = inputs | dict(model.named_parameters())
    return {"with grad": sorted(name for name, one in leaves.items() if one.grad is not None)}


def test_one_tower_frozen(submission: Submission, draw: Draw) -> None:
    for frozen, other in (("user_tower", "item_tower"), ("item_tower", "user_tower")):
        wanted = sorted([f"{other}.bias", f"{other}.weight", "item", "user"])
        found = submission.run(what_learns, **pairs(draw, 6), frozen=frozen, like={"with grad": wanted})["with grad"]
        assert found == wanted, f"tensors with a .grad while {frozen} is frozen: should be {wanted}, got {found}"
