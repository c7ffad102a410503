"""What is checked of cross_entropy."""

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
    bans,
    close,
    far,
)

MEAN: dict[str, Any] = {"reduction": "mean"}
SUM: dict[str, Any] = {"reduction": "sum"}
NONE: dict[str, Any] = {"reduction": "none"}
EVERY = (MEAN, SUM, NONE)
PICKED = "gather picks one class of every row"


def labels(draw: Draw, N: int, C: int) -> Tensor:
    """Every class about equally often, so that whatever is done to one of them shows."""
    return (torch.arange(N) % C)[draw.permutation(N)]


def batch(draw: Draw, N: int = 9, C: int = 7, std: float = 1.0, **options: Any) -> Arguments:
    return {"logits": draw.normal(N, C, std=std), "target": labels(draw, N, C), **options}


def with_each(*options: dict[str, Any], N: int = 9, C: int = 7) -> Inputs:
    """One batch for each of the options."""
    return lambda draw: [batch(draw, N, C, **option) for option in options]


def sizes_of_one(draw: Draw) -> list[Arguments]:
    """In the last one a row of the only class is ignored."""
    made = [batch(draw, 1, 6, **NONE), batch(draw, 6, 1), batch(draw, 1, 1, **NONE), batch(draw, 6, 1, **NONE)]
    made[-1]["target"][2] = -100
    return made


def weights(draw: Draw, C: int = 7) -> Tensor:
    return draw.uniform(C, low=0.2, high=3.0)


def class_weights(draw: Draw) -> list[Arguments]:
    """In one a class weighs nothing; in the last one, all rows together weigh far less than 1."""
    made = [batch(draw, weight=weights(draw), **how) for how in EVERY]
    N, C = draw.shape(2, 8, 20)
    any_size = batch(draw, N, C, weight=weights(draw, C))
    return [any_size, *made, *(batch(draw, weight=weights(draw) * by) for by in (torch.arange(7) != 6, 1e-12))]


def ignore(arguments: Arguments, index: int) -> Arguments:
    """Three rows ignored; one that counts has the next class, so that there is always something left."""
    target = arguments["target"].clone()
    target[[1, 4, 7]] = index
    target[3] = (index + 1) % arguments["logits"].shape[1]
    return {**arguments, "target": target} | ({} if index == -100 else {"ignore_index": index})


def chosen_ignore_index(draw: Draw) -> list[Arguments]:
    """Negative, beyond the classes, and a class like any other, which is then left out.

    In 32 bits, 5 · 2³² + 1 is 1, the class of a row that counts.
    """
    chosen = ((-1, MEAN), (5 * 2**32 + 1, NONE), (7, MEAN), (0, SUM), (2, MEAN), (draw.size(8, 99), MEAN))
    return [ignore(batch(draw, **how), index) for index, how in chosen]


def smoothing_of_weighted_classes(draw: Draw) -> list[Arguments]:
    """In all but the last a class weighs nothing: its rows cost what the smoothing gives the others."""
    kept = torch.arange(7) != 6
    amounts = (
        (0.1, MEAN, kept),
        (0.7, NONE, kept),
        (0.3, SUM, kept),
        (draw.number(0.1, 0.9), MEAN, kept),
        (1.0, MEAN, 1),
    )
    return [batch(draw, weight=weights(draw) * by, label_smoothing=e, **how) for e, how, by in amounts]


def everything_at_once(draw: Draw) -> list[Arguments]:
    made = [ignore(batch(draw, weight=weights(draw), label_smoothing=0.3, **how), 3) for how in EVERY]
    return [*made, ignore(batch(draw, label_smoothing=0.3), -100), ignore(batch(draw, weight=weights(draw)), -1)]


def shifted(draw: Draw) -> list[Arguments]:
    """exp overflows above 88.7 in float32 and 709.8 in float64, and underflows below -104 and -745."""
    rows = torch.tensor([800, -800, 0, 800, -800, 0, 400, -400, 0]).double()[:, None]
    made = [batch(draw, **options) for options in (MEAN, NONE, NONE, {"label_smoothing": 0.2})]
    return [one | {"logits": one["logits"] + shift} for one, shift in zip(made, (800, -800, rows, rows), strict=True)]


def far_classes(draw: Draw) -> list[Arguments]:
    """Neighbouring logits are 1000 apart, so that all probabilities but one underflow in any dtype."""
    made = [batch(draw, **options) for options in (MEAN, NONE, {"label_smoothing": 0.2})]
    far = [1000.0 * (torch.stack([draw.permutation(7) for _ in range(9)]) - 3).double() for _ in made]
    return [one | {"logits": logits} for one, logits in zip(made, far, strict=True)]


def far_in_half(draw: Draw) -> list[Arguments]:
    return [batch(draw, **how) | {"logits": logits} for how in (MEAN, NONE) for logits in far.rows(draw, 9, 7)]


def impossible_classes(draw: Draw) -> list[Arguments]:
    """Two classes other than the target have a logit of -inf, and all but the last one in the rows that are ignored."""
    made = []
    for options in ({}, SUM, NONE, {"weight": weights(draw)}):
        one = ignore(batch(draw, **options), -100)
        rows = (one["target"] >= 0).nonzero().squeeze(1)
        for away in (1, 3):
            one["logits"][rows, (one["target"][rows] + away) % 7] = -torch.inf
        one["logits"][one["target"] < 0, :6] = -torch.inf
        made.append(one)
    return made


def many_classes(draw: Draw) -> list[Arguments]:
    """A table of C by C would take 4.9 GB, were it of single bytes."""
    C = 70_000
    plain = {"logits": draw.normal(2, C), "target": draw.integers(2, high=C)}
    full = {"logits": draw.normal(3, C), "target": torch.tensor([C - 1, -100, 7]), "weight": weights(draw, C)}
    return [plain, full | {"label_smoothing": 0.1}]


def wrong_classes(draw: Draw) -> list[Arguments]:
    """One bad index among good ones, the usual ignore_index included where another is chosen."""
    made = []
    for index, chosen in ((7, -100), (-1, -100), (-7, -100), (1000, -100), (-99, -100), (-100, -1), (7, 255), (-1, 2)):
        one = batch(draw, ignore_index=chosen)
        one["target"][draw.integers(1, high=9)] = index
        made.append(one)
    return made


def of_shapes(*shapes: tuple[tuple[int, ...], tuple[int, ...]], C: int = 5) -> Inputs:
    """Logits and targets of these shapes; the targets are valid classes."""
    return lambda draw: [{"logits": draw.normal(*z), "target": draw.integers(*y, high=C)} for z, y in shapes]


def wrong_weights(draw: Draw) -> list[Arguments]:
    """Targets reach only the classes that the shortest weight has; the last weight is a single number for all."""
    made = [batch(draw, C=7, weight=weights(draw, length)) for length in (6, 8, 1, 9)]
    made.append(batch(draw, C=7, weight=weights(draw)[0]))
    return [{**one, "target": torch.zeros(9, dtype=torch.int64)} for one in made]


def raising(name: str, inputs: Inputs) -> Case:
    return Case(name, inputs, raises=ValueError)


GRADER = Grader(
    answers=(
        Answer(
            'cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean")',
            oracle=lambda logits, target, **options: F.cross_entropy(logits, target, **options),
            differentiable=("logits",),
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (64, 512), "classes": (16, 256)},
                    inputs=lambda draw, rows, classes: batch(
                        draw, rows, classes, weight=weights(draw, classes), label_smoothing=0.1
                    ),
                    asks=("loops",),
                    hints={"rows": PICKED, "classes": "amax and sum take the axis to reduce"},
                ),
                Budget(
                    "thousands_of_rows",
                    sizes={"rows": (128, 2048)},
                    inputs=lambda draw, rows: batch(draw, rows, 16),
                    asks=("memory",),
                    hints={"rows": PICKED},
                ),
                Budget(
                    "fifty_thousand_classes",
                    sizes={"rows": (4, 16), "classes": (1000, 50_000)},
                    inputs=lambda draw, rows, classes: batch(draw, rows, classes),
                    asks=("memory", "time"),
                    hints={"classes": "pick the target's entry instead of multiplying with an identity"},
                ),
            ),
            cases=(
                Case("nine_by_seven", with_each({})),
                Case("every_reduction", with_each(MEAN, SUM, NONE), half=True),
                Case("as_many_rows_as_classes", with_each(MEAN, NONE, N=6, C=6), dtypes=(torch.float64,)),
                Case("large_batch", with_each(MEAN, NONE, {"std": 6.0, **NONE}, N=300, C=128)),
                Case("sizes_of_one", sizes_of_one),
                Case("class_weights", class_weights),
                Case("ignored_rows", lambda draw: [ignore(batch(draw, **how), -100) for how in EVERY]),
                Case("chosen_ignore_index", chosen_ignore_index),
                Case(
                    "smoothing",
                    with_each(
                        *(
                            {"label_smoothing": e, **how}
                            for e, how in ((0.1, MEAN), (0.005, MEAN), (0.7, NONE), (1.0, SUM))
                        )
                    ),
                ),
                Case("smoothing_of_weighted_classes", smoothing_of_weighted_classes),
                Case("everything_at_once", everything_at_once, half=True),
                Case(
                    "shifted_logits",
                    shifted,
                    category="robustness",
                    # Neighbours of 800 are 6e-5 apart in float32, so the log of a sum found there is no closer.
                    tolerance={torch.float32: Tolerance(2e-4, 1e-5, 1e-4)},
                ),
                Case("far_classes", far_classes, category="robustness"),
                Case("impossible_classes", impossible_classes, category="robustness"),
                # Gradients are not asked for: they are as coarse as the logits.
                Case("far_logits_in_half", far_in_half, gradients="none", category="robustness", dtypes=HALF),
                Case("many_classes", many_classes, category="robustness", dtypes=(torch.float32,)),
                # Some would do once flattened, or as a batch of one.
                raising(
                    "logits_not_2d",
                    of_shapes(
                        *[((5,), y) for y in ((5,), (), (1,))],
                        *[((6, 5, 2), y) for y in ((6,), (6, 2))],
                        ((6, 5, 1), (6,)),
                        *[((2, 3, 5), y) for y in ((6,), (2, 3))],
                    ),
                ),
                raising(
                    "target_not_1d", of_shapes(*[((6, 5), y) for y in ((6, 1), (1, 6))], ((1, 5), ()), ((6, 5), (6, 5)))
                ),
                raising("lengths_differ", of_shapes(((6, 5), (5,)), ((5, 5), (6,)), ((6, 5), (1,)), ((1, 5), (6,)))),
                raising("no_such_class", wrong_classes),
                raising("smoothing_out_of_range", with_each(*({"label_smoothing": e} for e in (-0.1, 1.1, 5.0)))),
                raising("wrong_weight_length", wrong_weights),
                raising(
                    "unknown_reduction",
                    with_each(*({"reduction": word} for word in ("average", "max", "batchmean", "Mean", ""))),
                ),
            ),
        ),
    ),
    banned=(*bans.CROSS_ENTROPY, "nll_loss", "log_softmax", "distributions"),
)


def test_equal_logits_give_log_c(submission: Submission, draw: Draw) -> None:
    logits = draw.normal(6, 1).expand(6, 11)
    loss = submission.call("cross_entropy", logits=logits, target=labels(draw, 6, 11))
    close("the loss of equal logits", loss, torch.tensor(11.0).double().log(), TOLERANCES[torch.float64])


def test_renaming_the_classes_changes_nothing(submission: Submission, draw: Draw) -> None:
    one = batch(draw, weight=weights(draw), label_smoothing=0.2)
    order = draw.permutation(7)
    renamed = one | {"logits": one["logits"][:, order], "target": order.argsort()[one["target"]]}
    before = submission.call("cross_entropy", **one)
    after = submission.call("cross_entropy", **{**renamed, "weight": one["weight"][order]})
    close("the loss after renaming the classes", after, before, TOLERANCES[torch.float64])
