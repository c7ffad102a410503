"""What is checked of conv2d and max_pool2d."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Size, Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, bans, last_places

POOLINGS = (
    *("max_pool", "avg_pool", "lp_pool", "adaptive_max_pool", "adaptive_avg_pool", "fractional_max_pool"),
    *("mkldnn_max_pool", "mkldnn_adaptive", "quantized_max_pool"),
)
SHAPES = (2, 3, 9, 10), (4, 3, 3, 2)  # of x and weight

KERNEL = {"kh": (2, 5), "kw": (2, 5)}  # not square
IMAGES = {"B": (1, 5), "C": (2, 7), "H": (26, 30), "W": (26, 30)}

SMALL = (
    *(((2, 3, 4, 5), (2, 3, 1, 1)), ((2, 3, 3, 4), (2, 3, 3, 4))),
    *(((1, 1, 1, 6), (1, 1, 1, 4)), ((1, 2, 5, 1), (3, 2, 2, 1))),
)

# Of pools: the kernel's size, stride and padding.
PADDED = (2, None, 1), (3, None, 1), ((11, 2), None, (2, 0)), ((2, 4), 2, [0, 2]), ([3, 4], 2, 1)
REFUSED = (
    *((2, 0), (2, (0, 0)), (2, (1, 0)), (2, (0, 1)), (2, -1), (2, None, -1), (4, None, (2, -1))),
    *((8,), ((8, 1),), ((1, 9),)),
    *((3, None, 2), (1, None, 1), ((2, 4), None, 2), ((4, 2), None, 2), ((1, 3), None, [1, 0])),
    *(((10, 2), None, 1), ((2, 11), None, 1)),
)


def conv(draw: Draw, shapes: tuple[tuple[int, ...], tuple[int, ...]] = SHAPES, *options: Any, **more: Any) -> Arguments:
    """Options are stride, padding and dilation, in this order."""
    named = dict(zip(("stride", "padding", "dilation"), options, strict=False))
    return {"x": draw.normal(*shapes[0]), "weight": draw.normal(*shapes[1]), **named, **more}


def shaped(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Inputs:
    return lambda draw: [conv(draw, one) for one in shapes]


def options(*several: tuple[Any, ...]) -> Inputs:
    return lambda draw: [conv(draw, SHAPES, *one) for one in several]


def biases(draw: Draw) -> list[Arguments]:
    """As many filters as the result has rows and columns, one, and as many as it has rows."""
    shapes = [((2, 3, 6, 5), (4, 3, 3, 2)), ((2, 3, 3, 4), (1, 3, 2, 2)), ((2, 2, 4, 7), (3, 2, 2, 3))]
    made = [conv(draw, one, bias=draw.normal(one[1][0])) for one in shapes]
    made[1]["bias"][:] = 0  # its gradient is not
    return made


def strides(draw: Draw) -> list[Arguments]:
    """The last result is one column wide: a stride for the width changes nothing there."""
    return [*options((2,), ((3, 1),), ([1, 4],), (3,))(draw), conv(draw, ((2, 3, 7, 2), SHAPES[1]), (1, 2))]


def dilated(draw: Draw) -> list[Arguments]:
    """The last kernel is one column wide: a dilation of the width changes nothing there."""
    several = options((1, 0, 2), (1, 0, (1, 3)), (1, 0, [4, 2]))(draw)
    return [*several, conv(draw, (SHAPES[0], (4, 3, 3, 1)), 1, 0, (1, 2))]


def zeros_around(draw: Draw) -> list[Arguments]:
    """The last kernel is taller than x, and fits only with the padding on both sides."""
    return [*options((1, 1), (1, (2, 0)), (1, [1, 3]))(draw), conv(draw, ((1, 2, 3, 4), (3, 2, 5, 3)), 1, (1, 0))]


def all_options(draw: Draw, kh: int, kw: int, B: int, C: int, O: int, H: int, W: int) -> list[Arguments]:
    """Drawn, with another number for the width than for the height; the last kernel is 1 × 1."""
    lows = {"stride": 1, "padding": 0, "dilation": 1}
    drawn = [{name: (draw.permutation(6)[:2] + low).tolist() for name, low in lows.items()} for _ in range(5)]
    shapes = [((B, C, H, W), (O, C, kh, kw))] * 4 + [((1, C, 5, 6), (O, C, 1, 1))]
    return [conv(draw, one, bias=draw.normal(O), **more) for one, more in zip(shapes, drawn, strict=True)]


def disagreeing(draw: Draw) -> list[Arguments]:
    x, weight = SHAPES
    channels = [*(((2, C, 9, 10), weight) for C in (1, 2, 4, 6)), (x, (4, 1, 3, 2))]
    biases = [draw.normal(*shape) for shape in ((1,), (3,), (5,), (), (4, 1), (1, 4), (4, 1, 1))]
    return [*(conv(draw, shapes) for shapes in channels), *(conv(draw, bias=bias) for bias in biases)]


def refused(draw: Draw) -> list[Arguments]:
    """Sizes that mean nothing, and kernels that do not fit."""
    bad = [(0,), ((1, 0),), ((0, 1),), (-1,), (1, -1), (1, (2, -1)), (1, (-1, 2))]
    bad += [(1, 0, dilation) for dilation in (0, (1, 0), (0, 1), -1, 5, (1, 10), (5, 1))]
    weights = [((10, 2), (0, 1)), ((3, 11), (1, 0)), ((12, 1), 1)]
    large = [conv(draw, ((1, 3, 9, 10), (2, 3, *kernel)), 1, padding) for kernel, padding in weights]
    return [*options(*bad)(draw), *large]


def unlike(draw: Draw, *shape: int, above: int = 100) -> Tensor:
    """Values that differ, and still do in bfloat16, which counts to 256: which of equal ones wins is not tested.

    The smallest is in the corner: with padding, it can be alone in a window.
    """
    ranks = torch.cat([torch.tensor([0]), draw.permutation(Size(shape).numel() - 1) + 1])
    return (ranks.view(shape) - above).double() / 8


def pooled(*several: tuple[Any, ...], above: int = 100, scales: tuple[float, ...] = (1,)) -> Inputs:
    """Each is the kernel's size, stride and padding."""
    named = [dict(zip(("kernel_size", "stride", "padding"), one, strict=False)) for one in several]
    return lambda draw: [
        {"x": unlike(draw, 2, 2, 7, 8, above=above) * scale, **one} for one in named for scale in scales
    ]


def pool_strides(draw: Draw, kh: int, kw: int, B: int, C: int, H: int, W: int) -> list[Arguments]:
    drawn = {"kernel_size": (kh + 2, kw + 2), "stride": (draw.permutation(6)[:2] + 1).tolist(), "padding": (0, 1)}
    return [*pooled((3, 1), (2, (1, 3)), ((2, 3), [3, 2]))(draw), {"x": unlike(draw, B, C, H, W), **drawn}]


GRADER = Grader(
    answers=(
        Answer(
            "conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1)",
            oracle=lambda x, **more: F.conv2d(x, **more),
            differentiable=("x", "weight", "bias"),
            tolerance=last_places(8),  # the sum of a kernel's positions, each rounded to half precision, needs 4
            cases=(
                Case("three_by_two", shaped(((2, 3, 7, 6), (4, 3, 3, 2)))),
                Case("sizes_of_one", shaped(*SMALL)),
                Case("a_bias", biases),
                Case("strides", strides),
                Case("zeros_around", zeros_around),
                Case("dilated", dilated),
                Case("all_options", all_options, sizes=KERNEL | IMAGES | {"O": (2, 9)}),
                Case("shapes_disagree", disagreeing, raises=ValueError),
                Case("refused_sizes", refused, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_images",
                    sizes=dict.fromkeys(("batch", "channels", "filters", "out_rows", "out_columns"), (4, 20)),
                    inputs=lambda draw, batch, channels, filters, out_rows, out_columns: conv(
                        draw,
                        ((batch, channels, out_rows + 1, out_columns), (filters, channels, 2, 3)),
                        *(1, (0, 1)),
                        bias=draw.normal(filters),
                    ),
                    peak=4,  # 8 times what the windows hold: the reference needs twice that
                    hints={"filters": "one product, such as einsum's, takes all filters"},
                ),
            ),
        ),
        Answer(
            "max_pool2d(x, kernel_size, stride=None, padding=0)",
            oracle=lambda x, **more: F.max_pool2d(x, **more),
            differentiable=("x",),
            cases=(
                Case("pooled_by_twos", pooled((2,))),
                Case("pooled_by_pairs", pooled(((3, 2),), ([1, 4],), ((2, 1),), (1,), ((7, 8),))),
                Case("pool_strides", pool_strides, sizes=KERNEL | IMAGES),
                Case("below_zero", pooled(*PADDED, above=250), half=True),
                Case("far_below_zero", pooled(*PADDED, above=250, scales=(1e5, 1e34)), category="robustness"),
                Case("refused_windows", pooled(*REFUSED), raises=ValueError),
            ),
            budgets=(
                Budget(
                    "pooled_images",
                    sizes=dict.fromkeys(("batch", "channels", "out_rows", "out_columns"), (4, 16)),
                    inputs=lambda draw, batch, channels, out_rows, out_columns: {
                        # as normal numbers some would be equal
                        "x": unlike(draw, batch, channels, 2 * out_rows - 2, 2 * out_columns - 2),
                        "kernel_size": 2,
                        "padding": 1,
                    },
                    asks=("loops",),
                ),
            ),
        ),
    ),
    banned=(*bans.CONVOLUTIONS, *POOLINGS),
)
