"""What is checked of filter_logits and sample."""

import itertools
import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import (
    HALF,
    Answer,
    Arguments,
    Budget,
    Case,
    CheckFailed,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    shown,
)  # fmt: skip

# Chernoff: of N draws, the share f of a token with the probability p has N · KL(f, p) above L with a probability of at
# most 2 exp(−L), whatever N and p. A grading compares 122 shares with such bounds, so it fails a right answer by chance
# in fewer than 3 of 10¹⁰ gradings.
L = math.log(1e12)


def kept(row: list[float], top_k: int | None, top_p: float | None) -> list[bool]:
    largest = sorted(range(len(row)), key=lambda i: -row[i])[:top_k]
    if top_p is not None:
        weights = [math.exp(row[i] - row[largest[0]]) for i in largest]
        before = itertools.accumulate([0, *weights])  # what the larger ones add up to
        largest = [i for i, larger in zip(largest, before, strict=False) if larger < top_p * sum(weights)]
    return [i in set(largest) and row[i] > -math.inf for i in range(len(row))]


def filtered(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    z, top_k = (logits / temperature, top_k) if temperature else (logits * 1, 1)
    keep = torch.tensor([kept(row, top_k, top_p) for row in z.reshape(-1, z.shape[-1]).tolist()]).view(z.shape)
    if z.requires_grad:  # a dropped logit may have any finite gradient: no softmax after it lets one through
        z.register_hook(lambda gradient: gradient.masked_fill(~keep, math.nan))
    return z.where(keep, -math.inf)


def drawn_by_gumbel(logits: Tensor, generator: torch.Generator | None = None, **options: Any) -> Tensor:
    z = filtered(logits, **options)
    noise = torch.rand(z.shape, generator=generator, dtype=z.dtype)
    return (z - (-noise.log()).log()).argmax(-1)


# Inputs


def ranked(draw: Draw, *shape: int) -> Tensor:
    """Rows whose logits are at least 0.16 apart."""
    V = shape[-1]
    order = torch.stack([draw.permutation(V) for _ in range(math.prod(shape[:-1]))])
    steps = order + draw.uniform(*order.shape, high=0.6) - V / 2
    return (steps * draw.uniform(len(order), 1, low=0.4, high=1.2)).view(shape)


def between(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, **_: Any) -> float:
    """A top_p as far as can be from what the largest tokens of any row add up to."""
    p = (logits / temperature).sort(-1, descending=True).values[..., :top_k].softmax(-1)
    sums = torch.cat([torch.tensor([0.3, 0.97]).to(p), p.cumsum(-1).flatten().clamp(0.3, 0.97)]).sort().values
    widest = sums.diff().argmax()
    return float(sums[widest] + sums[widest + 1]) / 2


def calls(*shapes: tuple[int, ...], **options: Any) -> Inputs:
    """With `top_p=0`, one that fits the logits."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [{"logits": ranked(draw, *shape)} | options for shape in shapes]
        return [one | ({"top_p": between(**one)} if one.get("top_p") == 0 else {}) for one in made]

    return inputs


def together(*made: Inputs) -> Inputs:
    return lambda draw: [one for some in made for one in some(draw)]


ROWS = (5, 8)  # where no seed changes them
# In float16, torch.multinomial divides by exponential noise, and noise below 2⁻²⁵ becomes 0: then a token of the
# probability 0 is drawn. These seeds have such noise among the first 20 000 numbers, as about 1 of 1,700 seeds does.
UNLUCKY = (20, 1257, 2709, 2842, 3016, 3043, 4209, 7539, 9234, 11173, 11673, 14192, 14611, 16210, 20350, 20441)


def shapes(draw: Draw) -> list[tuple[int, ...]]:
    return [(draw.size(4, 12),), (2, 1, draw.size(2, 4), draw.size(4, 9)), (1, draw.size(3, 6)), (5, 1), (1, 1)]


def in_order(draw: Draw, rows: int, tokens: int) -> list[Arguments]:
    """In every order but one, other tokens are kept in some row of some call."""
    made = [{"temperature": draw.number(0.4, 0.7)}, *({"temperature": draw.number(1.8, 2.2)} for _ in range(2))]
    made += [{"temperature": draw.number(2.5, 3.5), "top_k": 4} for _ in range(2)]
    made.append({"temperature": draw.number(1.5, 2.0), "top_k": draw.size(4, tokens - 2)})
    return [one for options in made for one in calls((rows, tokens), **options, top_p=0)(draw)]


def minus_infinity(draw: Draw, *several: dict[str, Any]) -> list[Arguments]:
    """Three to six tokens of eight are left in a row."""
    made = []
    for options in several:
        logits = ranked(draw, *ROWS)
        logits[torch.arange(8) < torch.tensor([2, 3, 4, 5, 2])[:, None]] = -math.inf
        logits = logits.gather(-1, draw.permutation(8).expand(ROWS))
        made.append({"logits": logits, **options} | ({"top_p": between(logits)} if "top_p" in options else {}))
    return made


def temperature_of_0(draw: Draw) -> list[Arguments]:
    made = calls(ROWS, (4,), temperature=0.0)(draw)
    made += [
        one | more
        for one, more in zip(calls(ROWS, ROWS, temperature=0.0)(draw), ({"top_k": 3}, {"top_p": 0.9}), strict=True)
    ]
    return made + minus_infinity(draw, {"temperature": 0.0})


def far_from_zero(draw: Draw) -> list[Arguments]:
    """In some rows exp of all logits is 0, or overflows, in float64 also; some lie 10 000 below others."""
    made = []
    for level in (-1e4, 1e4):
        near = ranked(draw, *ROWS)
        made.append(
            {"logits": near + level * (torch.arange(5) % 2)[:, None], "temperature": 0.5, "top_p": between(near, 0.5)}
        )
    return made + calls(ROWS, temperature=1e-3, top_k=6)(draw)  # exp of the sixth logit is 0 next to the first


def many_tokens(draw: Draw) -> Arguments:
    """All 1794 numbers of bfloat16 from 2⁻⁷ to 1 and their opposites; the nearest sum is 3e-5 above 0.9."""
    sizes = torch.arange(2**7, 2**8).double() / 2**8
    positive = torch.cat([torch.ones(1).double(), *(sizes * 2.0**-e for e in range(7))])
    logits = torch.cat([positive, -positive])
    return {"logits": logits[draw.permutation(len(logits))], "top_p": 0.9}


def out_of_range(draw: Draw) -> list[Arguments]:
    wrong = [{"temperature": -0.5}, {"temperature": -1}, {"top_k": 0}, {"top_k": -1}]
    wrong += [{"top_p": p} for p in (0.0, -0.1, 1.1)]
    wrong += [{"temperature": 0.0, "top_k": 0}, {"temperature": 0.0, "top_p": 1.5}, {"top_k": 1, "top_p": 0.0}]
    return [{"logits": ranked(draw, 3, 8), **one} for one in wrong]


def one_far_above(draw: Draw, *shape: int, low: float = -200) -> Arguments:
    """The others have probabilities below e⁻²⁰⁰; nothing overflows."""
    logits = draw.normal(*shape, std=2, mean=low)
    return {"logits": logits.scatter(-1, draw.integers(*shape[:-1], 1, high=shape[-1]), 10)}


def unlucky(draw: Draw) -> list[Arguments]:
    """One token is left of more than 20 000; see `UNLUCKY`."""
    made = []
    for temperature, top_k in ((1.0, 1), (0.0, None)):
        logits = one_far_above(draw, int(draw.integers(1, low=20_000, high=30_000)), low=-10)["logits"]
        seed = UNLUCKY[int(draw.integers(1, high=len(UNLUCKY)))]
        options = {"temperature": temperature, "top_k": top_k, "top_p": None}
        made.append({"logits": logits, "times": 1, **options, "given": True, "seed": seed})
    return made


def sample_extremes(draw: Draw) -> list[Arguments]:
    """exp of all logits is 0, or overflows, or the others are −∞."""
    made = [one_far_above(draw, 3, 7, low=low) for low in (-200, -200, -math.inf)]
    for one, level in zip(made, (-1e4, 1e4, 0), strict=True):
        one["logits"] += level
    return made


# Scenarios


def probabilities(filter_logits, logits, temperature, top_k, top_p):
    return torch.softmax(filter_logits(logits, temperature, top_k, top_p), -1)


def draws(sample, logits, given, seed):
    where = logits.device
    generator, default = torch.Generator(where), torch.default_generator
    if where.type == "cuda":
        default = torch.cuda.default_generators[where.index]
    drawn, other, options = (generator, default, {"generator": generator}) if given else (default, generator, {})
    before, aside = drawn.manual_seed(seed).get_state(), other.manual_seed(1).get_state()
    first = sample(logits, **options)
    after = drawn.get_state()
    second = sample(logits, **options)
    sample(logits[0], **options), sample(logits[:2, None], **options)  # a single row; three axes
    kept = other.get_state()
    drawn.manual_seed(seed), other.manual_seed(2)
    again = sample(logits, **options)
    drawn.manual_seed(seed), torch.rand(3, generator=drawn, device=where)
    later = sample(logits, **options)
    return {
        "whether the generator that should draw moved on": not torch.equal(after, before),
        "whether the other generator stayed": torch.equal(kept, aside),
        "whether a second call gave other tokens": not torch.equal(second, first),
        "whether the same seed gave the same tokens": torch.equal(again, first),
        "whether drawing three numbers after the seed changed the tokens": not torch.equal(later, first),
    }


def drawn(sample, logits, times, temperature, top_k, top_p, given, seed):
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    options = {name: value for name, value in options.items() if value is not None}
    if given:
        options["generator"] = torch.Generator(logits.device)
    options.get("generator", torch).manual_seed(seed)
    return sample(logits.expand(times, *logits.shape), **options)


def seeded(given: bool) -> Inputs:
    return lambda draw: {"logits": draw.normal(64, 8), "given": given, "seed": int(draw.integers(1, high=1 << 31))}


def bad(name: str) -> Case:
    return Case(name, out_of_range, raises=ValueError)


FILTERS = Answer(
    "filter_logits(logits, temperature=1.0, top_k=None, top_p=None)",
    oracle=filtered,
    differentiable=("logits",),
    cases=(
        Case("as_they_are", calls(ROWS, (2, 1, 6))),
        Case("temperature", together(calls(ROWS, temperature=0.7), calls(ROWS, temperature=2.5))),
        Case("top_k", together(calls(ROWS, top_k=3), calls(ROWS, top_k=1, temperature=1e-4)), half=True),
        Case(
            "top_p",
            together(
                calls(ROWS, ROWS, (2, 6), top_p=0),
                calls(ROWS, top_p=1e-3),
                calls(ROWS, temperature=3.0, top_k=4, top_p=1e-9),
            ),
            half=True,
        ),
        Case(
            "in_order",
            in_order,
            half=True,
            sizes={"rows": (3, 6), "tokens": (7, 12)},
        ),
        Case(
            "every_number_of_axes",  # a top_k above V is an edge: nothing_dropped
            lambda draw: together(
                *(calls(shape, temperature=0.8, top_k=min(3, shape[-1]), top_p=0) for shape in shapes(draw))
            )(draw),
        ),
        Case(
            "nothing_dropped",
            together(*(calls(ROWS, **one) for one in ({"top_k": 8}, {"top_k": 500}, {"top_p": 1.0}))),
            core=False,
        ),
        Case("temperature_of_0", temperature_of_0, category="robustness", half=True),
        Case(
            "minus_infinity",
            lambda draw: minus_infinity(draw, {}, {"temperature": 0.5, "top_k": 5}, {"top_p": 0}),
            category="robustness",
            gradients="none",
        ),
        Case("far_from_zero", far_from_zero, category="robustness"),
        Case("many_tokens_in_half", many_tokens, category="robustness", dtypes=HALF),
        bad("out_of_range"),
    ),
    budgets=(
        Budget(
            "many_rows",
            sizes={"rows": (64, 320), "tokens": (32, 256)},
            inputs=lambda draw, rows, tokens: calls((rows, tokens), temperature=0.9, top_k=20, top_p=0.9)(draw)[0],
            scenario=probabilities,
            hints={"rows": "sort, softmax and cumsum take all rows at once", "tokens": "compare a whole row at once"},
        ),
    ),
)
SAMPLE = Answer(
    "sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None)",
    oracle=drawn_by_gumbel,
    tolerance={torch.float64: Tolerance(0, 0, 4)},  # two samples' shares, for the diagnosis: see `shares`
    cases=(
        Case("one_far_above", lambda draw: [one_far_above(draw, 3, 7), one_far_above(draw, 4, 5)]),
        Case("sample_every_number_of_axes", lambda draw: [one_far_above(draw, *shape) for shape in shapes(draw)]),
        Case("one_left", together(calls(ROWS, top_k=1), calls(ROWS, top_p=1e-3), calls(ROWS, temperature=1e-3))),
        Case("given_generator", seeded(given=True), scenario=draws, dtypes=(torch.float32,)),
        Case("global_generator", seeded(given=False), scenario=draws, dtypes=(torch.float32,)),
        Case("sample_temperature_of_0", temperature_of_0, category="robustness", half=True),
        Case("sample_extremes", sample_extremes, category="robustness"),
        Case("no_dropped_token_in_half", unlucky, scenario=drawn, category="robustness", dtypes=HALF),
        bad("sample_out_of_range"),
    ),
    budgets=(
        Budget(
            "many_draws",
            sizes={"rows": (64, 320), "tokens": (32, 256)},
            inputs=lambda draw, rows, tokens: calls((rows, tokens), temperature=0.9, top_k=1)(draw)[0],
            hints={"rows": "torch.multinomial draws for all rows of a matrix"},
        ),
    ),
)
GRADER = Grader(answers=(FILTERS, SAMPLE))


# What the judge makes of many draws.


def shares(tokens: Tensor, p: Tensor) -> Tensor:
    """By how much each token's share of each row is off, times √N: two samples' differ by less than 4."""
    found = (tokens[..., None] == torch.arange(p.shape[-1])).double().mean(0)
    return (found - p) * len(tokens) ** 0.5


def pairs(tokens: Tensor, p: Tensor) -> Tensor:
    """The same of pairs of tokens: of both rows of a draw, and of row 0 of two draws, neighbours or far apart."""
    one, other = tokens[::2], tokens[1::2, 0]
    near, far = tokens[: len(one), 0], tokens[len(one) :, 0]
    return shares(torch.stack([4 * one[:, 0] + one[:, 1], 4 * one[:, 0] + other, 4 * near + far], 1), p)


def compare(
    submission: Submission,
    draw: Draw,
    logits: Tensor,
    times: int,
    joint: bool = False,
    given: bool = True,
    **options: Any,
) -> None:
    """Draws from each row so many times, and compares shares with probabilities by Chernoff's bound.

    Args:
        joint: whether to look at pairs of tokens.
        given: whether there is a generator; else torch's global one draws.
    """
    p = filtered(logits, **options).softmax(-1)
    what, N = f"token {{}} in {times:,} draws from row {{}}", times
    summary = partial(shares, p=p)
    if joint:
        p = torch.stack([torch.outer(p[0], p[row]).flatten() for row in (1, 0, 0)])
        what, N, summary = "pair {} of tokens, of {}", times // 2, partial(pairs, p=p)
    inputs = dict.fromkeys(("temperature", "top_k", "top_p")) | options | {"logits": logits, "times": times}
    seed = int(draw.integers(1, high=1 << 31))
    like = torch.zeros(times, len(logits), dtype=torch.int64)
    found = submission.run(drawn, like=like, summary=summary, **inputs, given=given, seed=seed)
    f = (found / N**0.5 + p).clamp(0, 1)  # rounding makes a share of 0 negative, and its xlogy NaN
    divergence = sum(torch.xlogy(a, a) - torch.xlogy(a, b) for a, b in ((f, p), (1 - f, 1 - p)))
    for row, token in (~(divergence * N <= L)).nonzero().tolist():
        right = float(p[row, token])
        width = math.sqrt(2 * L * right * (1 - right) / N)
        got = shown(float(f[row, token]), right, width)
        raise CheckFailed(f"share of {what.format(token, row)}: should be {right:.4f} ± {width:.4f}, got {got}")


def test_drawn_as_probable(submission: Submission, draw: Draw) -> None:
    logits = draw.normal(2, 5)
    for options in ({}, {"temperature": 0.5}, {"temperature": 2.0}):
        compare(submission, draw, logits, 4000, **options)


def test_filtered_draws(submission: Submission, draw: Draw) -> None:
    for options in ({"top_k": 3}, {"temperature": 1.5, "top_p": 0.0}, {"temperature": 0.8, "top_k": 4, "top_p": 0.0}):
        logits = ranked(draw, 2, 6)
        if "top_p" in options:
            options["top_p"] = between(**{**options, "logits": logits})
        compare(submission, draw, logits, 4000, **options)


def test_independent_draws(submission: Submission, draw: Draw) -> None:
    compare(submission, draw, draw.normal(1, 4, std=0.3).expand(2, 4), 4000, joint=True)


@pytest.mark.robustness
def test_exact_shares(submission: Submission, draw: Draw) -> None:
    compare(submission, draw, draw.normal(1, 8, std=1.5), 40_000, given=False)
