"""What is checked of instance_norm."""

from typing import Any

import torch
import torch.nn.functional as F

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, bans, normalized


def sizes(text: str) -> tuple[int, ...]:
    """ "4x5" is (4, 5), "()" is ()."""
    return tuple(int(size) for size in text.strip("()").split("x") if size)


def called(draw: Draw, text: str, std: float = 2, mean: float = 1, **more: Any) -> Arguments:
    """ "3x4x5 4 -": the shapes of x, weight and bias; - where there is none."""
    shapes = zip(("x", "weight", "bias"), text.split(), strict=False)
    made = {name: draw.normal(*sizes(shape)) for name, shape in shapes if shape != "-"}
    return made | {"x": made["x"] * std + mean, **more}


def calls(*texts: str, **more: Any) -> Inputs:
    return lambda draw: [called(draw, text, **more) for text in texts]


def both(shape: str) -> str:
    """The shape of x, with a weight and a bias that fit."""
    return f"{shape} {sizes(shape)[1]} {sizes(shape)[1]}"


def with_both(*shapes: str, **more: Any) -> Inputs:
    return calls(*map(both, shapes), **more)


def weight_and_bias(draw: Draw) -> list[Arguments]:
    """The last with so little variance that a larger eps shows, also in bfloat16.

    Of many channels, since the gradient of one weight may be nearly 0 while its terms are rounded.
    """
    own = [called(draw, text) for text in (both("2x6x4x5"), both("3x7x2x4"))]
    return [*own, called(draw, both("2x6x4x5"), std=0.1, mean=0)]


def other_eps(*texts: str) -> Inputs:
    """Without eps the variance is tiny, so that a smallest one shows."""
    pairs = [(text, way) for way in ({"eps": 0.5}, {"eps": 0.0, "std": 1e-3, "mean": 0}) for text in texts]
    return lambda draw: [called(draw, text, **way) for text, way in pairs]


def volumes_and_more_axes(draw: Draw) -> list[Arguments]:
    made = with_both("2x3x4x2x5", "2x3x2x4x2x2")(draw)
    shapes = ["x".join(map(str, draw.shape(axes, 2, most))) for axes, most in ((3, 20), (4, 12), (6, 7))]
    return made + [called(draw, both(shape), eps=draw.number(0.05, 0.5)) for shape in shapes]


def others(order: str) -> Inputs:
    """A weight or bias of another shape, {1}, for an x {0}, alone and beside a right one, {2}."""
    wanted = [("3x4x5", shape, "4") for shape in OTHERS] + [("3x1x5", shape, "1") for shape in ("()", "4", "5", "1x1")]
    return calls(*(order.format(x, other, right) for x, other, own in wanted for right in ("-", own)))


def constant_channels(draw: Draw) -> Arguments:
    made = called(draw, "4x3x2x5 3 3", eps=1e-3)
    made["x"][0, 1], made["x"][2:, 2], made["x"][3, 0] = 0.5, -2, 0
    return made


def large_means(draw: Draw) -> list[Arguments]:
    """Each channel of each sample has its own mean, between a million and two."""
    made = [called(draw, both(shape)) for shape in ("3x4x16", "2x3x4x9")]
    for one in made:
        far = draw.uniform(*one["x"].shape[:2], low=1e6, high=2e6) * draw.normal(*one["x"].shape[:2]).sign()
        one["x"] += far.reshape(*far.shape, *[1] * (one["x"].dim() - 2))
    return made


def budget(name: str, **sizes: tuple[int, int]) -> Budget:
    def inputs(draw: Draw, positions: int, samples: int = 2, channels: int = 4) -> Arguments:
        return called(draw, both(f"{samples}x{channels}x{positions}"))

    return Budget(name, sizes, inputs, hints=HINTS)


HINTS = dict.fromkeys(("samples", "channels"), "mean and var do all channels of all samples at once")
HINTS["positions"] = "mean and var add up any number of them"
OTHERS = ("()", "1", "3", "5", "1x4", "4x1", "4x4", "2x2", "12", "3x4", "4x5", "1x4x1", "3x4x5")  # (4,) would be right
# Right answers reach a hundredth of it there, and E[x²] − E[x]² misses it by a factor of 500.
LARGE = {torch.float64: Tolerance(1e-7, 1e-8, 1e-8)}
CASES = (
    Case("images", calls("3x2x6x4", "2x3x4x5")),
    Case("weight_and_bias", weight_and_bias, half=True),
    Case("sequences", with_both("3x4x6", "2x5x4")),
    Case("volumes_and_more_axes", volumes_and_more_axes),
    Case("equal_sizes", with_both("4x4x4", "3x3x3x3", "3x3x5", "2x4x4", "2x4x4x5", "2x4x5x4", "3x2x3x4")),
    Case("weight_or_bias_alone", calls("3x4x5 4", "3x4x5 - 4", "2x3x4x5 3", "2x3x4x5 - 3")),
    Case("neither", calls("3x4x5", "2x3x4x5")),
    Case("axes_of_length_one", with_both("1x3x5", "3x1x5", "1x1x5", "2x3x1x5", "2x3x5x1", "1x1x4x1", "2x3x4x2x1")),
    Case("two_positions", with_both("3x4x2", "2x3x2x1", "1x1x2", eps=0.1)),
    Case("other_eps", other_eps("3x4x5 4 4", "2x3x4x5", "3x4x5 4 -", "2x3x4x5 - 3")),
    Case("small_variance", with_both("3x4x5", "2x3x4x5", std=1e-3, mean=0), category="robustness"),
    Case("constant_channels", constant_channels, category="robustness"),
    Case("large_mean", large_means, category="robustness", dtypes=(torch.float64,), tolerance=LARGE),
    Case("no_axis_behind_the_channels", calls("3x4", "3x4 4 4", "1x4", "3x1 1 1", "5", "()"), raises=ValueError),
    Case("one_position", calls("3x4x1", "1x4x1", "1x1x1", "3x1x1 - 1", "3x4x1x1 4 4", "6x2x1x1x1"), raises=ValueError),
    Case("other_weight", others("{0} {1} {2}"), raises=ValueError),
    Case("other_bias", others("{0} {2} {1}"), raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "instance_norm(x, weight=None, bias=None, eps=1e-5)",
            oracle=lambda x, *own, **more: F.instance_norm(x, None, None, *own, **more),
            differentiable=("x", "weight", "bias"),
            tolerance=normalized.ROUNDED,
            budgets=(
                budget("many_channels", samples=(4, 16), channels=(64, 1024), positions=(4, 16)),
                budget("many_positions", positions=(512, 4096)),
            ),
            cases=CASES,
        ),
    ),
    banned=bans.NORMS,
)
