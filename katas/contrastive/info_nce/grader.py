"""What is checked of info_nce."""

import pytest
import torch
from torch import Tensor

from graders.kata import HALF, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance, close

EXACT = TOLERANCES[torch.float64]


def oracle(features: Tensor, temperature: float = 0.1) -> Tensor:
    """The definition, row by row."""
    rows = len(features)
    unit = features / features.square().sum(1, keepdim=True).sqrt()
    losses = []
    for i in range(rows):
        logits = unit @ unit[i] / temperature
        others = torch.cat([logits[:i], logits[i + 1 :]])
        losses.append(torch.logsumexp(others, 0) - logits[(i + rows // 2) % rows])
    return torch.stack(losses).mean()


def rounded_at(temperature: float) -> dict[torch.dtype, Tolerance]:
    """A cosine rounded to half precision is off by half an epsilon, a logit by that over the temperature."""
    off = {dtype: torch.finfo(dtype).eps / 2 / temperature * 1.5 for dtype in HALF}
    return {dtype: Tolerance(TOLERANCES[dtype].relative, off[dtype], off[dtype]) for dtype in HALF}


def views(draw: Draw, N: int, D: int, noise: float = 1.0, scale: float = 1.0) -> Tensor:
    """Two noisy views of N samples, in halves."""
    return (draw.normal(N, D).repeat(2, 1) + draw.normal(2 * N, D, std=noise)) * scale


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1, and the gradient is 0."""
    signs = torch.tensor([[1.0], [-1.0]]).double()[draw.permutation(2)].repeat(3, 1)
    one = signs * draw.uniform(6, 1, low=0.5, high=2.0)
    several = [views(draw, N, D) for N, D in ((2, 3), (3, 6), (5, 10), (7, 2))]
    return [{"features": features, "temperature": 0.4} for features in (one, *several)]


def one_pair(draw: Draw) -> list[Arguments]:
    """The positive is all there is in the denominator, so the loss is 0, even where it is as far off as can be."""
    x = draw.normal(1, 5)
    pairs = [draw.normal(2, 5), draw.uniform(2, 1, low=0.5, high=2.0), torch.cat([x, -x])]
    return [*({"features": pair} for pair in pairs), {"features": pairs[-1], "temperature": 1e-3}]


def special_angles(draw: Draw) -> list[Arguments]:
    """Views that are equal, opposite, or orthogonal; all rows equal gives log(2N − 1)."""
    half, basis = draw.normal(4, 5), torch.linalg.qr(draw.normal(6, 6)).Q
    made = [half.repeat(2, 1), torch.cat([half, -half]), basis, draw.normal(1, 5).expand(8, 5).clone()]
    return [{"features": features, "temperature": t} for features in made for t in (0.1, 1.0)]


def uneven_lengths(draw: Draw) -> list[Arguments]:
    factors = torch.tensor([1e-4, 1e4, 1.0, 30.0, 1e-2, 300.0], dtype=torch.float64)
    uneven = views(draw, 3, 4) * factors[draw.permutation(6), None]
    made = [uneven, views(draw, 3, 4, scale=1e-4), views(draw, 3, 4, scale=1e6)]
    return [{"features": features, "temperature": 0.5} for features in made]


def small(draw: Draw, temperature: float) -> list[Arguments]:
    """Views that are alike, and opposite ones among rows that are all alike: the positive's share is 0 in any dtype."""
    alike = draw.normal(1, 5) + draw.normal(4, 5, std=0.2)
    made = [views(draw, 4, 5), torch.cat([alike, -alike])]
    return [{"features": features, "temperature": temperature} for features in made]


def at_temperatures(draw: Draw, *values: float) -> list[Arguments]:
    return [{"features": views(draw, 3, 4), "temperature": value} for value in values]


def with_shapes(draw: Draw, *shapes: tuple[int, ...]) -> list[Arguments]:
    return [{"features": draw.normal(*shape)} for shape in shapes]


GRADER = Grader(
    answers=(
        Answer(
            "info_nce(features, temperature=0.1)",
            oracle=oracle,
            differentiable=("features",),
            tolerance=rounded_at(0.1),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (64, 384), "features": (16, 64)},
                    inputs=lambda draw, samples, features: {"features": views(draw, samples, features)},
                    asks=("loops", "memory", "time"),
                    written=10,  # some masks and copies of all similarities are welcome
                    peak=12,
                    time=9,  # so is picking from them by boolean masks
                    hints={
                        "samples": "work on the whole (2N, 2N) matrix at once",
                        "features": "multiply matrices, rather than broadcast and sum",
                    },
                ),
            ),
            cases=(
                Case("eight_by_five", lambda draw: {"features": views(draw, 4, 5)}),
                Case("temperatures", lambda draw: at_temperatures(draw, 0.05, 0.07, 0.5, 1, 2.0, 50.0)),
                Case("sizes", sizes),
                Case("one_pair", one_pair),
                Case("special_angles", special_angles),
                Case("large_batch", lambda draw: {"features": views(draw, 48, 33, noise=0.5)}),
                # An eps of 1e-12 beside a norm of 1e-4 is welcome, one of 1e-8 is not.
                Case(
                    "uneven_lengths",
                    uneven_lengths,
                    category="robustness",
                    tolerance={torch.float64: Tolerance(2e-6, 2e-6, 1e-12), torch.float32: Tolerance(1e-4, 1e-4, 1e-5)},
                ),
                # exp(1 / temperature) overflows float64. A cosine's rounding error counts a thousand times.
                Case(
                    "small_temperature",
                    lambda draw: small(draw, 1e-3),
                    category="robustness",
                    tolerance={torch.float32: Tolerance(1e-4, 2e-3, 2e-3)},
                ),
                Case(
                    "small_temperature_in_half",
                    lambda draw: small(draw, 0.05),
                    category="robustness",
                    dtypes=HALF,
                    tolerance=rounded_at(0.05),
                ),
                # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
                Case(
                    "norm_fits_float16",
                    lambda draw: {"features": views(draw, 4, 64, scale=60.0)},
                    category="robustness",
                    dtypes=(torch.float16,),
                ),
                Case("odd_number_of_rows", lambda draw: with_shapes(draw, (5, 3), (1, 3), (3, 4)), raises=ValueError),
                Case("one_dimensional", lambda draw: with_shapes(draw, (8,), (5,)), raises=ValueError),
                Case(
                    "more_than_two_dimensional",
                    lambda draw: with_shapes(draw, (4, 2, 3), (2, 2, 2, 2), (3, 2, 4)),
                    raises=ValueError,
                ),
                Case("zero_temperature", lambda draw: at_temperatures(draw, 0.0), raises=ValueError),
                Case("negative_temperature", lambda draw: at_temperatures(draw, -0.1, -2), raises=ValueError),
            ),
        ),
    ),
)


def test_order_of_the_samples_changes_nothing(submission: Submission, draw: Draw) -> None:
    features, order = views(draw, 5, 4), draw.permutation(5)
    once = submission.call("info_nce", features=features, temperature=0.3)
    moved = submission.call("info_nce", features=features[torch.cat([order, order + 5])], temperature=0.3)
    close("the loss after permuting the samples", moved, once, EXACT)


def test_order_of_the_views_changes_nothing(submission: Submission, draw: Draw) -> None:
    features = views(draw, 5, 4)
    once = submission.call("info_nce", features=features, temperature=0.3)
    swapped = submission.call("info_nce", features=features.roll(5, 0), temperature=0.3)
    close("the loss after swapping the halves", swapped, once, EXACT)


def test_rotating_the_features_changes_nothing(submission: Submission, draw: Draw) -> None:
    features, rotation = views(draw, 5, 4), torch.linalg.qr(draw.normal(4, 4)).Q
    once = submission.call("info_nce", features=features)
    rotated = submission.call("info_nce", features=features @ rotation)
    close("the loss after a rotation", rotated, once, EXACT)


@pytest.mark.robustness
def test_scaling_each_row_changes_nothing(submission: Submission, draw: Draw) -> None:
    features = views(draw, 5, 4)
    once = submission.call("info_nce", features=features)
    scaled = submission.call("info_nce", features=features * draw.uniform(10, 1, low=1.0, high=1000.0))
    close("the loss after scaling each row", scaled, once, EXACT)


def test_equal_rows_give_log_of_their_number(submission: Submission, draw: Draw) -> None:
    loss = submission.call("info_nce", features=draw.normal(1, 4).expand(12, 4).clone(), temperature=0.2)
    close("the loss of 12 equal rows, log 11", loss, torch.tensor(11.0).double().log(), EXACT)
