"""What is checked of binary_cross_entropy."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    close,
    far,
)

# F.softplus returns x itself above 20, so a right answer that is made of it is 2e-9 off there.
AS_SOFTPLUS = {torch.float64: Tolerance(1e-8, 1e-9, 1e-8)}
FLOAT16 = (torch.float16,)
FLOAT32, FLOAT64 = (torch.float32,), (torch.float64,)
MEAN: dict[str, Any] = {"reduction": "mean"}
SUM: dict[str, Any] = {"reduction": "sum"}
NONE: dict[str, Any] = {"reduction": "none"}
UNKNOWN = [{"reduction": word} for word in ("average", "batchmean", "Mean", "")]


def from_probs(probs: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Torch's. At probs of exactly 0 and 1 any finite gradient is right, which NaN stands for here."""
    inner = probs.clone()
    if inner.requires_grad:
        free = (probs == 0) | (probs == 1)
        inner.register_hook(lambda gradient: gradient.masked_fill(free, torch.nan))  # type: ignore[no-untyped-call]  # torch's
    return F.binary_cross_entropy(inner, target.to(probs.dtype), reduction=reduction)


def from_logits(logits: Tensor, target: Tensor, **options: Any) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, target.to(logits.dtype), **options)


def hard(draw: Draw, *shape: int) -> Tensor:
    """Targets of 0 and 1, about as many of each, as floating values."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) % 2)[draw.permutation(count)].reshape(shape).double()


def given_probs(draw: Draw, *shape: int, soft: bool = False, **options: Any) -> Arguments:
    target = draw.uniform(*shape) if soft else hard(draw, *shape)
    return {"probs": draw.uniform(*shape, low=0.05, high=0.95), "target": target, **options}


def given_logits(draw: Draw, *shape: int, soft: bool = False, std: float = 2.0, **options: Any) -> Arguments:
    target = draw.uniform(*shape) if soft else hard(draw, *shape)
    return {"logits": draw.normal(*shape, std=std), "target": target, **options}


def of_any_shape(make: Any) -> Inputs:
    shapes = (((), NONE), ((1,), MEAN), ((6,), MEAN), ((2, 3, 4), MEAN), ((1, 3, 1, 2), NONE), ((64, 32), NONE))

    def inputs(draw: Draw) -> list[Arguments]:
        drawn = [(draw.shape(axes, most=most), NONE) for axes, most in ((1, 40), (2, 20), (4, 6))]
        return [make(draw, *shape, soft=True, **how) for shape, how in (*shapes, *drawn)]

    return inputs


def whole_targets(arguments: Arguments) -> list[Arguments]:
    """The same targets in each dtype that is not floating."""
    dtypes = (torch.int64, torch.int32, torch.uint8, torch.bool)
    return [{**arguments, "target": arguments["target"].to(dtype)} for dtype in dtypes]


def confident_probs(draw: Draw) -> list[Arguments]:
    """Down to 1e-6 away from 0 and from 1, right and wrong."""
    made = []
    for options in (MEAN, NONE):
        small = 10 ** draw.uniform(12, low=-6.0, high=-2.0)
        probs = torch.where(torch.arange(12) < 6, small, 1 - small)
        made.append({"probs": probs, "target": hard(draw, 6).repeat(2), **options})
    return made


def tiny_probs(draw: Draw) -> Arguments:
    """From 1e-30 to 1e-8, where every clamp but that of the log at -100 shows."""
    return {"probs": 10 ** draw.uniform(8, low=-30.0, high=-8.0), "target": draw.uniform(8, low=0.1), **NONE}


def probs_below_the_clamp(draw: Draw) -> Arguments:
    """The log of the first four is below -100; 0 is not among them."""
    probs = torch.cat([10 ** draw.uniform(4, low=-300.0, high=-45.0), 10 ** draw.uniform(4, low=-42.0, high=-30.0)])
    return {"probs": probs, "target": draw.uniform(8, low=0.1), **NONE}


def certain_probs(draw: Draw) -> list[Arguments]:
    """Exact zeros and ones among others, each with a target of 0, of 1, and between."""
    made = []
    for options in (MEAN, SUM, NONE):
        probs = torch.cat([torch.tensor([0.0, 0, 0, 1, 1, 1]).double(), draw.uniform(4, low=0.05, high=0.95)])
        target = torch.cat([torch.tensor([0.0, 1, 0.3, 0, 1, 0.6]).double(), draw.uniform(4)])
        order = draw.permutation(10)
        made.append({"probs": probs[order], "target": target[order], **options})
    return made


def pos_weights(draw: Draw) -> list[Arguments]:
    """One for each class, one for each element, one for all, and some that are zero."""

    def weights(*shape: int) -> Tensor:
        return draw.uniform(*shape, low=0.3, high=4.0)

    rows, classes = draw.shape(2, 8, 20)
    return [
        given_logits(draw, 5, 7, pos_weight=weights(7)),
        given_logits(draw, rows, classes, pos_weight=weights(classes)),
        given_logits(draw, rows, classes, pos_weight=weights(rows, classes), **NONE),
        given_logits(draw, 5, 7, soft=True, pos_weight=weights(7), **NONE),
        given_logits(draw, 2, 3, 4, pos_weight=weights(3, 1), **SUM),
        given_logits(draw, 5, 7, pos_weight=weights(5, 7)),
        given_logits(draw, 4, 4, pos_weight=weights(4)),
        given_logits(draw, 6, pos_weight=weights()),
        given_logits(draw, 6, pos_weight=weights(6), **NONE),
        given_logits(draw, 6, pos_weight=torch.zeros(()).double()),
        given_logits(draw, 4, 3, soft=True, pos_weight=weights(3) * torch.tensor([1, 0, 1])),
    ]


def far_logits(draw: Draw) -> list[Arguments]:
    """Both signs of each size, under targets of 0, of 1, and between."""
    sizes = torch.tensor([50.0, 100.0, 130.0, 750.0, 10000.0]).double()
    logits = torch.cat([sizes, -sizes]).repeat(3)
    target = torch.tensor([0.0, 1, 0.4]).double().repeat_interleave(10)
    every = (MEAN, NONE, {"pos_weight": draw.uniform(30, low=0.3, high=4.0)})
    orders = [draw.permutation(30) for _ in every]
    return [{"logits": logits[i], "target": target[i], **how} for i, how in zip(orders, every, strict=True)]


def moderate_logits(draw: Draw) -> list[Arguments]:
    """Where an approximation may cut off: both signs of each size under both targets, up to where F.softplus does."""
    sizes = torch.linspace(3, 19.8, 35).double() + draw.uniform(35, low=-0.2, high=0.2)
    logits = torch.cat([sizes, -sizes]).repeat(2)
    return [{"logits": logits, "target": (torch.arange(140) < 70).double(), **how} for how in (NONE, MEAN)]


def far_logits_in_half(draw: Draw) -> list[Arguments]:
    """The sigmoid of -18 is 0 in float16, that of 9 is 1. A mean of up to 10 000 fits, and its sum does not."""
    sizes = (draw.normal(10, 10, std=30.0), *far.numbers(draw, 10, 10))
    return [{"logits": x, "target": hard(draw, 10, 10), **how} for x in sizes for how in (NONE, MEAN)]


def zero_logits(draw: Draw) -> list[Arguments]:
    """Half of the logits are exactly 0, where a hinge or an absolute value has no slope of its own."""
    made = []
    for options in (MEAN, {"soft": True, **NONE}, {"pos_weight": draw.uniform(3, low=0.3, high=4.0)}):
        one = given_logits(draw, 4, 3, **options)
        one["logits"].view(-1)[draw.permutation(12)[:6]] = 0
        made.append(one)
    return made


def with_each(make: Any, *options: dict[str, Any]) -> Inputs:
    return lambda draw: [make(draw, 5, 7, **option) for option in options]


def shapes_that_differ(first: str) -> Inputs:
    """Most of them would broadcast, or have as many elements."""
    pairs = (((5,), (5, 1)), ((5,), (1,)), ((3, 4), (4,)), ((3, 4), (4, 3)), ((3, 4), (12,)), ((1,), ()))
    both_ways = [*pairs, *(pair[::-1] for pair in pairs)]
    return lambda draw: [{first: draw.uniform(*one), "target": draw.uniform(*other)} for one, other in both_ways]


def one_bad_prob(*bad: float) -> Inputs:
    def inputs(draw: Draw) -> list[Arguments]:
        made = [given_probs(draw, 5, 7) for _ in bad]
        for one, value in zip(made, bad, strict=True):
            one["probs"].view(-1)[draw.integers(1, high=35)] = value
        return made

    return inputs


def answer(signature: str, oracle: Any, make: Any, hint: str, *cases: Case) -> Answer:
    given = signature.partition("(")[2].partition(",")[0]
    return Answer(
        signature,
        oracle=oracle,
        differentiable=(given,),
        budgets=(
            Budget(
                f"many_{given}",
                sizes={"elements": (256, 2048)},
                inputs=lambda draw, elements: make(draw, elements),
                hints={"elements": hint},
            ),
            Budget(
                f"a_hundred_thousand_{given}",
                sizes={"elements": (1000, 100_000)},
                inputs=lambda draw, elements: make(draw, elements),
                asks=("time",),
            ),
        ),
        tolerance=AS_SOFTPLUS,
        cases=cases,
    )


GRADER = Grader(
    answers=(
        answer(
            'binary_cross_entropy(probs, target, reduction="mean")',
            from_probs,
            given_probs,
            "log and * take all elements at once",
            Case("probs", with_each(given_probs, {})),
            Case("reductions_of_probs", with_each(given_probs, MEAN, SUM, NONE), dtypes=FLOAT32, half=True),
            Case("probs_of_any_shape", of_any_shape(given_probs)),
            Case(
                "whole_targets_of_probs",
                lambda draw: whole_targets(given_probs(draw, 4, 3)),
                dtypes=FLOAT32,
                core=False,
                half=True,
            ),
            Case("confident_probs", confident_probs, core=False),
            Case("tiny_probs", tiny_probs, gradients="none", category="robustness"),
            Case(
                "probs_below_the_clamp",
                probs_below_the_clamp,
                gradients="none",
                category="robustness",
                dtypes=FLOAT64,
            ),
            Case(
                "certain_probs",
                certain_probs,
                category="robustness",
                # The float32 nearest to e^-100 has a log of -99.98, and may stand in for 0.
                tolerance={torch.float32: Tolerance(1e-3, 1e-5, 1e-5)},
            ),
            # There, e^-100 is 0, and so is the 1e-12 that torch's own gradient divides by at least.
            Case("certain_probs_in_half", certain_probs, gradients="none", category="robustness", dtypes=FLOAT16),
            Case("probs_of_another_shape", shapes_that_differ("probs"), raises=ValueError),
            Case("probs_below_zero", one_bad_prob(-0.1, -1e-9, -torch.inf), raises=ValueError),
            Case("probs_just_above_one", one_bad_prob(1 + 1e-9), dtypes=FLOAT64, raises=ValueError),
            Case(
                "probs_of_nan_or_above_one",
                one_bad_prob(torch.nan, 1.1, 1 + 2**-7, torch.inf),
                dtypes=(*FLOAT64, torch.float32, *HALF),
                raises=ValueError,
            ),
            Case("unknown_reduction_of_probs", with_each(given_probs, *UNKNOWN), raises=ValueError),
        ),
        answer(
            'binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean")',
            from_logits,
            given_logits,
            "exp, log and * take all elements at once",
            Case("logits", with_each(given_logits, {})),
            Case("reductions_of_logits", with_each(given_logits, MEAN, SUM, NONE), dtypes=FLOAT32, half=True),
            # Of 2048 logits none is so far from 0 that 1 − σ loses a textbook's float32: other cases are for that.
            Case("logits_of_any_shape", of_any_shape(lambda *a, **more: given_logits(*a, std=1.2, **more))),
            Case(
                "whole_targets_of_logits",
                lambda draw: [
                    *whole_targets(given_logits(draw, 4, 3)),
                    *whole_targets(given_logits(draw, 4, 3, pos_weight=draw.uniform(3, low=0.3, high=4.0))),
                ],
                core=False,
                dtypes=FLOAT32,
                half=True,
            ),
            Case("moderate_logits", moderate_logits, dtypes=FLOAT64, tolerance=TOLERANCES, core=False),
            Case("pos_weights", pos_weights),
            Case("zero_logits", zero_logits, dtypes=FLOAT64, core=False),
            Case("far_logits", far_logits, category="robustness"),
            Case("far_logits_in_half", far_logits_in_half, category="robustness", dtypes=HALF),
            Case("logits_of_another_shape", shapes_that_differ("logits"), raises=ValueError),
            Case("unknown_reduction_of_logits", with_each(given_logits, *UNKNOWN), raises=ValueError),
        ),
    ),
    banned=(
        *("binary_cross_entropy", "multilabel_soft_margin_loss", "soft_margin_loss"),
        *("cross_entropy", "linear_cross_entropy", "distributions"),
    ),
)


def test_flipping_signs_and_targets_changes_nothing(submission: Submission, draw: Draw) -> None:
    logits, target = draw.normal(5, 7, std=2.0), draw.uniform(5, 7)
    once = submission.call("binary_cross_entropy_with_logits", logits=logits, target=target)
    flipped = submission.call("binary_cross_entropy_with_logits", logits=-logits, target=1 - target)
    close("the loss of -logits and 1 - target", flipped, once, AS_SOFTPLUS[torch.float64])


def test_logits_agree_with_their_sigmoids(submission: Submission, draw: Draw) -> None:
    logits, more = draw.normal(5, 7, std=2.0), {"target": draw.uniform(5, 7), **NONE}
    one = submission.call("binary_cross_entropy_with_logits", logits=logits, **more)
    other = submission.call("binary_cross_entropy", probs=logits.sigmoid(), **more)
    close("the loss of sigmoid(logits)", other, one, AS_SOFTPLUS[torch.float64])
