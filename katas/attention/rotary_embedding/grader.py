"""What is checked of rotary_embedding."""

from typing import Any

import torch
from torch import Tensor

from graders.kata import FULL, HALF, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance

FAR = {torch.float64: Tolerance(1e-8, 1e-8, 1e-8), torch.float32: Tolerance(0.0, 0.0, 5e-4)}  # of float32 angles: 4e-3


def oracle(x: Tensor, positions: Tensor | None = None, base: float = 10000.0, interleaved: bool = False) -> Tensor:
    """Multiplication by e^(iφ) in the complex plane."""
    S, d = x.shape[-2:]
    at = torch.arange(S) if positions is None else positions
    theta = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    pairs = x.unflatten(-1, (d // 2, 2)) if interleaved else x.unflatten(-1, (2, d // 2)).mT
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.exp(1j * (at[..., None] * theta)))
    return (turned if interleaved else turned.mT).flatten(-2)


def shaped(*shapes: tuple[int, ...], **more: Any) -> Inputs:
    return lambda draw: [{"x": draw.normal(*shape), **more} for shape in shapes]


def placed(draw: Draw, shape: tuple[int, ...], *positions: int, high: int = 40, **more: Any) -> Arguments:
    """Random positions of this shape."""
    return {"x": draw.normal(*shape), "positions": draw.integers(*positions, high=high), **more}


def given_positions(draw: Draw) -> list[Arguments]:
    """After a cache of 11 tokens, the same positions in another order, any, and one new token."""
    orders = torch.arange(5), torch.tensor([0, 3, 1, 2, 4])
    made = [{"x": draw.normal(2, 3, 5, 6), "positions": 11 + order} for order in orders]
    return [*made, placed(draw, (2, 3, 5, 6), 5, interleaved=True), placed(draw, (2, 3, 1, 6), 1)]


def positions_per_sample(draw: Draw) -> list[Arguments]:
    """Of two axes beside a batch as large as the number of heads, the first is still that of the heads."""
    made = [placed(draw, (2, 3, 5, 6), *shape) for shape in ((2, 1, 5), (2, 3, 5), (3, 1), (1, 1, 5), (2, 1, 1))]
    made += [placed(draw, (3, 4, 6), 3, 4, interleaved=True), placed(draw, (3, 3, 6), 3, 3)]
    return [*made, placed(draw, (3, 3, 5, 6), 3, 5)]


def any_sizes(draw: Draw, batch: int, heads: int, tokens: int, pairs: int) -> list[Arguments]:
    shape = batch, heads, tokens, 2 * pairs
    made: list[Arguments] = [{"x": draw.normal(*shape), "base": draw.number(2, 1e5)}]
    return [*made, placed(draw, shape, batch, 1, tokens), placed(draw, shape, heads, tokens, interleaved=True)]


def any_integers(draw: Draw) -> list[Arguments]:
    """0-d, one for all tokens, negative, and of each width, up to what it can hold."""
    made: list[Arguments] = [{"x": draw.normal(2, 3, 4), "positions": torch.tensor(at)} for at in (7, -5, [9])]
    widths = (torch.uint8, 200, 250), (torch.int8, -128, -100), (torch.int8, 100, 128), (torch.int16, -900, -800)
    for dtype, low, high in (*widths, (torch.int32, -9, 9)):
        made.append({"x": draw.normal(2, 3, 4), "positions": draw.integers(3, low=low, high=high).to(dtype)})
    return made


def far_positions(draw: Draw) -> list[Arguments]:
    """About ±100 000, where 2i/d is no float32, many tokens, and a position and a base that float32 does not hold."""
    made = [placed(draw, (2, 3, 6), *at, high=100, interleaved=pairs) for pairs, *at in ((False, 3), (True, 2, 3))]
    for one, far in zip(made, (100_000, -100_000), strict=True):
        one["positions"] += far - 50
    made.append({"x": draw.normal(4200, 2)})
    return [*made, {"x": draw.normal(1, 4), "positions": torch.tensor([20_000_001]), "base": 12_345.6}]


def far_positions_in_half(draw: Draw) -> list[Arguments]:
    """Those of the many tokens have no argument of their own; bfloat16 counts to 256."""
    return far_positions(draw)[:3]


def after_others(rotary_embedding, x):
    with torch.inference_mode():
        rotary_embedding(x.half())
        rotary_embedding(x)
    return rotary_embedding(x)


def others(draw: Draw) -> list[Arguments]:
    """Some do not broadcast at all, others would make x larger."""
    shapes = {
        (2, 3, 5, 4): [(4,), (6,), (2, 5), (2, 1), (5, 1), (3, 2, 5), (1, 2, 3, 5), (1, 1, 1, 1), (2, 3, 5, 1)],
        (5, 4): [(1, 5), (1, 1), (4,), (2,), (5, 1), (2, 5), (5, 4)],
        (1, 4): [(3,), (2, 1), (4,)],
        (2, 1, 4): [(3,), (2, 3), (1, 2)],
        (1, 3, 4): [(2, 3), (2, 1)],
    }
    return [placed(draw, shape, *positions) for shape, every in shapes.items() for positions in every]


def odd(draw: Draw) -> list[Arguments]:
    made: list[Arguments] = [
        {"x": draw.normal(2, 3, d), "interleaved": pairs} for d in (1, 3, 7) for pairs in (False, True)
    ]
    return [*made, placed(draw, (2, 3, 5), 3)]


def long(draw: Draw, batch: int = 1, heads: int = 1, tokens: int = 1, channels: int = 2) -> Arguments:
    """Near positions, so that float32 holds the angles: those that it does not are no matter of cost."""
    return {"x": draw.normal(batch, heads, tokens, channels), "positions": torch.arange(tokens) % 16}


GRADER = Grader(
    answers=(
        Answer(
            "rotary_embedding(x, positions=None, base=10000.0, interleaved=False)",
            oracle=oracle,
            differentiable=("x",),
            tolerance={torch.float64: TOLERANCES[torch.float32]},  # float32 angles are no matter of the core
            cases=(
                Case("five_tokens", shaped((2, 3, 5, 8))),
                Case("pairs_of_neighbours", shaped((2, 3, 5, 8), (4, 6), interleaved=True)),
                Case("given_positions", given_positions),
                Case("positions_per_sample", positions_per_sample),
                Case("every_number_of_axes", shaped((5, 4), (3, 5, 4), (2, 3, 1, 2, 5, 4))),
                Case("sizes_of_one", shaped((1, 2), (5, 2), (1, 6), (1, 3, 5, 2), (3, 1, 5, 4), (3, 2, 1, 4))),
                Case(
                    "other_base",
                    lambda draw: [
                        {"x": draw.normal(2, 5, 6), "base": base, "interleaved": pairs}
                        for base, pairs in ((100.0, False), (500_000.0, True), (1.5, False), (7.5, True))
                    ],
                ),
                Case(
                    "any_sizes",
                    any_sizes,
                    sizes={"batch": (6, 8), "heads": (7, 9), "tokens": (10, 20), "pairs": (5, 16)},
                ),
                Case("any_integers", any_integers, category="robustness"),
                Case("far_positions", far_positions, category="robustness", dtypes=FULL, tolerance=FAR),
                Case("far_positions_in_half", far_positions_in_half, category="robustness", dtypes=HALF),
                # No other case has these sizes, so whatever is kept for them was made here.
                Case(
                    "after_others",
                    lambda draw: {"x": draw.normal(2, 9, 10)},
                    scenario=after_others,
                    category="robustness",
                    dtypes=FULL,
                ),
                Case("odd_channels", odd, raises=ValueError),
                Case("positions_of_other_shapes", others, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"batch": (4, 32), "heads": (4, 32), "tokens": (4, 32), "channels": (8, 32)},
                    inputs=long,
                    asks=("loops",),
                    hints={
                        "tokens": "positions[..., None] * theta gives all angles",
                        "channels": "a slice or a half of the channels is rotated at once",
                    },
                ),
                Budget(
                    "long_sequences",
                    sizes={"tokens": (64, 512), "channels": (16, 128)},
                    inputs=long,
                    asks=("memory",),
                    hints={"channels": "a pair meets no other pair, so no d × d matrix is needed"},
                ),
                Budget(
                    "far_token",  # of one pair, whose angle is the position, so float32 holds it
                    sizes={"position": (1_000, 1_000_000)},
                    inputs=lambda draw, position: {"x": draw.normal(2, 2), "positions": torch.tensor([0, position])},
                    asks=("memory",),
                    hints={"position": "calculate the angles of the given positions alone, without a table"},
                ),
            ),
        ),
    ),
)
