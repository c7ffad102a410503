"""What is checked of layer_norm."""

from typing import Any

import torch
import torch.nn.functional as F

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, bans, normalized


def forms(layer_norm, x, weight, bias):
    shape = weight.shape
    return {kind.__name__: layer_norm(x, kind(shape), weight, bias) for kind in (tuple, list, torch.Size)}


def sizes(text: str) -> tuple[int, ...]:
    """ "4x5" is (4, 5), "()" is ()."""
    return tuple(int(size) for size in text.strip("()").split("x") if size)


def called(draw: Draw, text: str, std: float = 2, mean: float = 1, **more: Any) -> Arguments:
    """ "3x4x5 4x5 4x5 -": the shapes of x, normalized_shape, weight and bias; - where there is none."""
    x, shape, *own = text.split()
    made = {"x": draw.normal(*sizes(x), std=std, mean=mean), "normalized_shape": list(sizes(shape))}
    pairs = zip(("weight", "bias"), own, strict=False)
    return made | {name: draw.normal(*sizes(one)) for name, one in pairs if one != "-"} | more


def calls(*texts: str, **more: Any) -> Inputs:
    return lambda draw: [called(draw, text, **more) for text in texts]


def with_both(*texts: str, **more: Any) -> Inputs:
    """The shapes of x and normalized_shape, with a weight and a bias."""
    return calls(*(text + 2 * (" " + text.split()[1]) for text in texts), **more)


def other_eps(*texts: str) -> Inputs:
    """Without eps the variance is tiny, so that a smallest one shows."""
    pairs = [(text, way) for way in ({"eps": 0.5}, {"eps": 0.0, "std": 1e-3, "mean": 0}) for text in texts]
    return lambda draw: [called(draw, text, **way) for text, way in pairs]


def every_number_of_axes(draw: Draw) -> list[Arguments]:
    """The last ones are of any size: three axes or six, of which the last one, two or three are normalised."""
    made = with_both("2x3x4x5 5", "2x3x4x5 3x4x5", "2x3x4x5 2x3x4x5", "7 7", "1x1x2x1x2x2x3 3")(draw)
    for axes, last, most in ((3, 1, 20), (3, 2, 12), (6, 3, 7)):
        x = [*map(str, draw.shape(axes, most=most))]
        own = "x".join(x[-last:])
        made.append(called(draw, f"{'x'.join(x)} {own} {own} {own}", eps=draw.number(0.05, 0.5)))
    return made


def others(text: str) -> Inputs:
    """A weight or bias of another shape, {0}, alone and beside a right one, {1}."""
    return calls(*(text.format(other, right) for other in ("()", "5", "3x4x5", *OTHERS) for right in ("-", "4x5")))


def constant_blocks(draw: Draw) -> Arguments:
    made = called(draw, "4x3x5 3x5 3x5 3x5", eps=1e-3)
    made["x"][1], made["x"][2] = 0.5, 0
    return made


def large_means(draw: Draw) -> list[Arguments]:
    """Each block has its own mean, between a million and two."""
    made = [called(draw, text) for text in ("4x16 16 16 16", "4x3x9 3x9 3x9 3x9")]
    for one in made:
        far = torch.tensor([1e6, -1.5e6, -1e6, 2e6], dtype=torch.float64)
        one["x"] += far.reshape(4, *[1] * (one["x"].dim() - 1))
    return made


def weight_and_bias(draw: Draw) -> list[Arguments]:
    """The last with so little variance that a larger eps shows, also in bfloat16, and no root of float16 overflows."""
    return [called(draw, "3x4x6 6 6 6"), called(draw, "3x2x30 30 30 30", std=0.1, mean=0)]


def budget(name: str, leading: str, hint: str, **sizes: tuple[int, int]) -> Budget:
    """x has the axes `leading` and that of the values."""

    def inputs(draw: Draw, blocks: int, values: int) -> Arguments:
        return called(draw, f"{leading.format(blocks)}x{values} {values} {values} {values}")

    return Budget(name, sizes, inputs, hints={"blocks": hint, "values": hint})


OTHERS = ("1", "1x1", "1x5", "4x1", "20", "5x4", "1x4x5", "2x3x4x5")  # where (4, 5) would be right
# Right answers reach a hundredth of it there, and E[x²] − E[x]² misses it by a factor of 500.
LARGE = {torch.float64: Tolerance(1e-7, 1e-8, 1e-8)}
CASES = (
    Case("three_by_four_by_six", calls("3x4x6 6")),
    Case("weight_and_bias", weight_and_bias, half=True),
    Case("two_axes", with_both("3x4x5 4x5", "2x3x4x5 4x5")),
    Case("every_number_of_axes", every_number_of_axes),
    Case("equal_sizes", with_both("4x4x4 4", "4x4x4 4x4", "3x3 3")),
    Case("weight_or_bias_alone", calls("3x5 5 5 -", "3x5 5 - 5", "2x3x4 3x4 3x4 -", "2x3x4 3x4 - 3x4")),
    Case("neither", calls("3x5 5", "2x3x4 3x4")),
    Case(
        "forms_of_normalized_shape",
        lambda draw: {"x": draw.normal(2, 3, 4), "weight": draw.normal(3, 4), "bias": draw.normal(3, 4)},
        scenario=forms,
    ),
    Case("axes_of_length_one", with_both("1x5 5", "3x1x4 1x4", "3x4x1 4x1", "1x1x4 1x4")),
    Case("blocks_of_one_value", calls("3x1 1", "3x1 1 1 1", "1 1 1 1", "3x1x1 1x1 1x1 1x1", eps=0.1)),
    Case("other_eps", other_eps("3x5 5 5 5", "2x3x4 3x4", "3x5 5 5 -", "2x3x4 3x4 - 3x4")),
    Case("small_variance", with_both("3x5 5", "2x3x4 3x4", std=1e-3, mean=0), category="robustness"),
    Case("constant_blocks", constant_blocks, category="robustness"),
    Case("large_mean", large_means, category="robustness", dtypes=(torch.float64,), tolerance=LARGE),
    Case("empty_normalized_shape", calls("3x5 ()", "() ()"), raises=ValueError),
    Case("not_the_end", calls(*(f"3x4x5 {shape}" for shape in ("4", "6", "3x4", "3x5", *OTHERS))), raises=ValueError),
    Case("too_short_for_it", calls("5 4x5", "5 1x5", "20 4x5", "() 5", "() 1"), raises=ValueError),
    Case("one_for_several", calls("3x1 5", "4x1 4x5", "3x1x5 4x5"), raises=ValueError),
    Case("other_weight", others("3x4x5 4x5 {0} {1}"), raises=ValueError),
    Case("other_bias", others("3x4x5 4x5 {1} {0}"), raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5)",
            oracle=lambda x, *rest, **options: F.layer_norm(x, *rest, **options),
            differentiable=("x", "weight", "bias"),
            tolerance=normalized.ROUNDED,
            budgets=(
                budget("many_blocks", "{0}x1", "mean and var do all blocks at once", blocks=(96, 1536), values=(8, 32)),
                budget(
                    "many_values", "1x{0}", "mean and var add up all values at once", blocks=(4, 16), values=(128, 1024)
                ),
            ),
            cases=CASES,
        ),
    ),
    banned=bans.NORMS,
)
