"""What is checked of info_nce_by_hand."""

from functools import partial

import torch
from torch import Tensor

from graders.kata import HALF, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance


def oracle(features: Tensor, temperature: float = 0.07) -> Tensor:
    """The definition, row by row."""
    unit = features / features.square().sum(1, keepdim=True).sqrt()
    losses = []
    for i in range(len(unit)):
        logits = unit @ unit[i] / temperature
        others = torch.cat([logits[:i], logits[i + 1 :]])
        losses.append(torch.logsumexp(others, 0) - logits[i - 1 if i % 2 else i + 1])
    return torch.stack(losses).mean()


def rounded_at(temperature: float) -> dict[torch.dtype, Tolerance]:
    """A cosine rounded to half precision is off by half an epsilon, a logit by that over the temperature."""
    off = {dtype: torch.finfo(dtype).eps / 2 / temperature * 1.5 for dtype in HALF}
    return {dtype: Tolerance(TOLERANCES[dtype].relative, off[dtype], off[dtype]) for dtype in HALF}


def views(draw: Draw, N: int, D: int, noise: float = 1.0, scale: float = 1.0) -> Tensor:
    """Two noisy views of N samples, side by side."""
    return (draw.normal(N, D).repeat_interleave(2, 0) + draw.normal(2 * N, D, std=noise)) * scale


def opposite(x: Tensor) -> Tensor:
    """Each row, and after it minus that row."""
    return torch.stack([x, -x], 1).flatten(0, 1)


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1, and the gradient is 0."""
    signs = torch.tensor([1.0, -1, 1, 1, -1, -1]).double()[draw.permutation(6), None]
    one = signs * draw.uniform(6, 1, low=0.5, high=2.0)
    several = [views(draw, N, D) for N, D in ((2, 3), (3, 6), (5, 10), (7, 2))]
    return [{"features": features, "temperature": 0.4} for features in (one, *several)]


def one_pair(draw: Draw) -> list[Arguments]:
    """The positive is all there is in the denominator, so the loss is 0, even where it is as far off as can be."""
    pairs = [draw.normal(2, 5), draw.uniform(2, 1, low=0.5, high=2.0), opposite(draw.normal(1, 5))]
    return [*({"features": pair} for pair in pairs), {"features": pairs[-1], "temperature": 1e-3}]


def special_angles(draw: Draw) -> list[Arguments]:
    """Views that are equal, opposite, or orthogonal; all rows equal gives log(2N − 1)."""
    x, basis = draw.normal(4, 5), torch.linalg.qr(draw.normal(6, 6)).Q
    made = [x.repeat_interleave(2, 0), opposite(x), basis, draw.normal(1, 5).repeat(8, 1)]
    return [{"features": features, "temperature": t} for features in made for t in (0.1, 1.0)]


def uneven_lengths(draw: Draw) -> list[Arguments]:
    factors = torch.tensor([1e-4, 1e4, 1.0, 30.0, 1e-2, 300.0]).double()[draw.permutation(6), None]
    made = [views(draw, 3, 4) * factors, views(draw, 3, 4, scale=1e-4), views(draw, 3, 4, scale=1e6)]
    return [{"features": features, "temperature": 0.5} for features in made]


def small(temperature: float) -> Inputs:
    """Views that are alike; opposite ones of samples that are all alike, where the positive's share is 0 in any dtype;
    and orthogonal rows with one pair alike, so that other rows are far below the maximum of all and below their own."""

    def inputs(draw: Draw) -> list[Arguments]:
        apart = torch.linalg.qr(draw.normal(6, 6)).Q
        apart[1] = apart[0] + 0.1 * apart[1]
        made = [views(draw, 4, 5), opposite(draw.normal(1, 5) + draw.normal(4, 5, std=0.2)), apart]
        return [{"features": features, "temperature": temperature} for features in made]

    return inputs


def at(*temperatures: float) -> Inputs:
    return lambda draw: [{"features": views(draw, 3, 4), "temperature": value} for value in temperatures]


def shaped(*shapes: tuple[int, ...]) -> Inputs:
    return lambda draw: [{"features": draw.normal(*shape)} for shape in shapes]


BUDGET = Budget(
    "many_samples",
    sizes={"samples": (64, 384), "features": (16, 64)},
    inputs=lambda draw, samples, features: {"features": views(draw, samples, features)},
    asks=("loops", "memory", "time"),
    written=10,  # some masks and copies of all similarities are welcome
    peak=12,
    time=9,  # so is picking from them by boolean masks
    hints={"samples": "work on the whole (2N, 2N) matrix", "features": "multiply matrices, do not broadcast and sum"},
)
# An eps of 1e-12 beside a norm of 1e-4 is welcome, one of 1e-8 is not.
EPS = {torch.float64: Tolerance(2e-6, 2e-6, 1e-12), torch.float32: Tolerance(1e-4, 1e-4, 1e-5)}
THOUSANDFOLD = {torch.float32: Tolerance(1e-4, 2e-3, 2e-3)}  # a cosine's rounding error counts a thousand times
robust = partial(Case, category="robustness")
CASES = (
    Case("eight_by_five", lambda draw: {"features": views(draw, 4, 5)}),
    Case("temperatures", at(0.05, 0.1, 0.5, 1, 2.0, 50.0)),
    Case("sizes", sizes),
    Case("one_pair", one_pair, tolerance=THOUSANDFOLD),
    Case("special_angles", special_angles),
    Case("large_batch", lambda draw: {"features": views(draw, 48, 33, noise=0.5)}),
    robust("uneven_lengths", uneven_lengths, tolerance=EPS),
    robust("small_temperature", small(1e-3), tolerance=THOUSANDFOLD),
    robust("small_temperature_in_half", small(0.05), dtypes=HALF, tolerance=rounded_at(0.05)),
    # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
    robust("norm_fits_float16", lambda draw: {"features": views(draw, 4, 64, scale=60.0)}, dtypes=(torch.float16,)),
    Case("odd_number_of_rows", shaped((5, 3), (1, 3), (3, 4)), raises=ValueError),
    Case("other_ranks", shaped((8,), (5,), (4, 2, 3), (2, 2, 2, 2)), raises=ValueError),
    Case("temperature_not_above_0", at(0, 0.0, -0.1, -2), raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "info_nce(features, temperature=0.07)",
            oracle=oracle,
            differentiable=("features",),
            tolerance=rounded_at(0.07),
            budgets=(BUDGET,),
            cases=CASES,
        ),
    ),
    banned=(
        *("softmax", "log_softmax", "softmin", "safe_softmax", "masked_softmax", "nested_tensor_softmax"),
        *("distributions", "gumbel_softmax", "logsumexp", "logcumsumexp", "logits_to_probs"),
        *("cross_entropy", "linear_cross_entropy"),
        *("scaled_dot_product", "flash_attention", "efficient_attention", "cudnn_attention", "flex_attention"),
        *("math_attention", "sdpa_dense", "varlen_attn", "multi_head_attention", "native_multi_head_attention"),
        *("triton_multi_head_attention", "triton_scaled_dot_attention", "transformer_encoder_layer"),
    ),
)
