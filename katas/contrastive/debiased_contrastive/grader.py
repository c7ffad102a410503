"""What is checked of debiased_contrastive."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    close,
    two_views,
)

mirrored = two_views.mirrored
FOUR_SAMPLES = partial(two_views.views, N=4, D=5, noise=0.5)


def exponentials(features: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Of each row, the exponential of its positive, and the mean of those of its negatives, 0 where there are none."""
    exps = (two_views.cosines(features) / temperature).exp()
    return two_views.positives(exps), two_views.negatives(exps).sum(1) / max(len(features) - 2, 1)


def oracle(features: Tensor, temperature: float = 0.5, tau_plus: float = 0.1) -> Tensor:
    """The definition."""
    positive, mean = exponentials(features, temperature)
    g = ((mean - tau_plus * positive) / (1 - tau_plus)).clamp(min=math.exp(-1 / temperature))
    return ((positive + (len(features) - 2) * g).log() - positive.log()).mean()


def above_floor(features: Tensor, temperature: float, tau_plus: float) -> Tensor:
    """By how much the estimates are above the floor, or, if negative, below it, as a share of what they are made of."""
    positive, mean = exponentials(features, temperature)
    floor = (1 - tau_plus) * math.exp(-1 / temperature)
    return (mean - tau_plus * positive - floor) / (mean + tau_plus * positive)


def some(above: Tensor) -> bool:
    """Some rows' estimates are on the floor, and some are not."""
    return bool((above < 0).any() and (above > 0).any())


def clear(
    draw: Draw,
    tau_plus: float = 0.3,
    temperature: float = 0.5,
    make: Callable[[Draw], Tensor] = FOUR_SAMPLES,
    wanted: Callable[[Tensor], object] = some,
    margin: float = 0.01,
) -> Arguments:
    """Features drawn until the wanted estimates are on the floor, and until rounding cannot change which."""
    while True:
        features = make(draw)
        above = above_floor(features, temperature, tau_plus)
        if wanted(above) and above.abs().min() > margin:
            return {"features": features, "temperature": temperature, "tau_plus": tau_plus}


def whichever(above: Tensor) -> bool:
    return True


def shares(draw: Draw) -> list[Arguments]:
    """0 is InfoNCE; with shares near 1, nearly all estimates are on the floor."""
    extreme = [clear(draw, share, wanted=whichever) for share in (0, 0.0, 0.01, 0.9, 0.99, 1 - 1e-7)]
    above = clear(draw, 0.999, 1.0, beaten, lambda above: (above > 0).any())
    listed = ((0.2, 0.5), (0.4, 1), (0.5, 0.2), (0.7, 0.5), (draw.number(0.2, 0.6), 0.5))
    return extreme + [above] + [clear(draw, share, t) for share, t in listed]


def one_pair(draw: Draw) -> list[Arguments]:
    """There is no negative, so the loss is 0, even where the positive is as far off as can be."""
    made = [draw.normal(2, 5), draw.uniform(2, 1, low=0.5, high=2.0), mirrored(draw.normal(1, 5))]
    return [
        {"features": x, "temperature": t, "tau_plus": s} for x in made for t, s in ((0.01, 0.1), (1.0, 0), (2, 0.9))
    ]


def beaten(draw: Draw) -> Tensor:
    """Opposite views of samples that are all alike: the positive's share is 0 at small temperatures."""
    return mirrored(draw.normal(1, 5) + draw.normal(4, 5, std=0.2))


def poles(draw: Draw) -> Tensor:
    """Views that are nearly equal, of two samples that are nearly opposite: the negatives' share is 0."""
    return mirrored(draw.normal(1, 5)).repeat(2, 1) + draw.normal(4, 5, std=0.05)


def lonely(draw: Draw) -> Tensor:
    """The first row is opposite to all others: its exponentials are as small as can be, not far from the floor."""
    features = draw.normal(1, 5) + draw.normal(6, 5, std=0.2)
    return torch.cat([-features[:1], features[1:]])


def small(draw: Draw, temperature: float, margin: float) -> list[Arguments]:
    at = partial(clear, draw, temperature=temperature, margin=margin)
    alone = [at(0.2, make=lonely, wanted=lambda above, sign=sign: sign * above[0] > 0) for sign in (-1, 1)]
    return [
        at(0.1),
        *alone,
        *(at(share, make=make, wanted=whichever) for share, make in ((0.1, beaten), (0.1, poles), (0.0, poles))),
    ]


def refused(*values: float) -> Inputs:
    return lambda draw: [{"features": draw.normal(rows, 3), "tau_plus": value} for value in values for rows in (6, 2)]


# An exponential's relative error is its logit's absolute error. (The diagnosis takes the larger relative tolerance.)
ROUNDED = {dtype: replace(one, relative=0.1) for dtype, one in two_views.rounded_at(0.05, 2).items()}
OTHERS = ("eight_by_five", "one_pair", "small_temperature", "small_temperature_in_half", "tiny_temperature_in_half")
CASES = (
    Case("eight_by_five", lambda draw: {"features": clear(draw, 0.1, wanted=whichever)["features"]}),
    Case("some_on_the_floor", clear, half=True),
    Case("shares", shares),
    Case("one_pair", one_pair, core=False),
    # exp(1 / temperature) overflows float32, and exp(-1 / temperature) nearly vanishes in it.
    Case("small_temperature", partial(small, temperature=0.01, margin=0.01), category="robustness"),
    Case(
        "small_temperature_in_half",
        partial(small, temperature=0.05, margin=0.3),
        dtypes=HALF,
        category="robustness",
        tolerance=ROUNDED,
    ),
    Case(
        "tiny_temperature_in_half",
        partial(small, temperature=0.01, margin=0.3),
        dtypes=HALF,
        gradients="finite",
        category="robustness",
        tolerance=two_views.rounded_at(0.01),
    ),
    Case("tau_plus_below_0", refused(-0.1, -1, -1e-3), raises=ValueError),
    Case("tau_plus_not_below_1", refused(1, 1.0, 1.5, 10), raises=ValueError),
    *(case for case in two_views.cases() if case.name not in OTHERS),
)
GRADER = Grader(
    answers=(
        Answer(
            "debiased_info_nce(features, temperature=0.5, tau_plus=0.1)",
            oracle=oracle,
            differentiable=("features",),
            # F.softplus takes log(1 + exp(x)) for x from x = 20 on, and is off by 2e-9. It is welcome.
            tolerance={torch.float64: Tolerance(1e-9, 5e-9, 1e-12), **two_views.rounded_at(0.5, 2)},
            budgets=(two_views.budget(),),
            cases=CASES,
        ),
    ),
)


def test_share_of_0_is_info_nce(submission: Submission, draw: Draw) -> None:
    features = two_views.views(draw, 5, 4)
    loss = submission.call("debiased_info_nce", features=features, temperature=0.2, tau_plus=0.0)
    close("the loss with tau_plus=0", loss, two_views.info_nce(features, 0.2), TOLERANCES[torch.float64])
