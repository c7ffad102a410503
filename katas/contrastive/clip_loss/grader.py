"""What is checked of clip_loss."""

import math
from functools import partial

import torch
from torch import Tensor

from graders.kata import HALF, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, close


def oracle(image: Tensor, text: Tensor, logit_scale: Tensor) -> Tensor:
    a, b = (x / x.square().sum(1, keepdim=True).sqrt() for x in (image, text))
    logits = a @ b.mT * logit_scale.clamp(max=math.log(100)).exp()
    return (logits.logsumexp(0) + logits.logsumexp(1) - 2 * logits.diagonal()).mean() / 2


def rounded_at(scale: float) -> dict[torch.dtype, Tolerance]:
    """A cosine rounded to half precision is off by half an epsilon, a logit by that times e^scale, and the gradient of
    the scale, where positives and negatives nearly cancel, by some of these."""
    off = {dtype: torch.finfo(dtype).eps / 2 * math.exp(scale) * 4 for dtype in HALF}
    return {dtype: Tolerance(0.0, off[dtype], off[dtype]) for dtype in HALF}


def given(image: Tensor, text: Tensor, scale: float = 1.0) -> Arguments:
    return {"image": image, "text": text, "logit_scale": torch.tensor(scale, dtype=torch.float64)}


def batch(draw: Draw, N: int, D: int, scale: float = 1.0, std: float = 1.0) -> Arguments:
    """Image and text are noisy views of one x."""
    x = draw.normal(N, D)
    return given(*((x + draw.normal(N, D)) * std for _ in range(2)), scale)


def at(*scales: float) -> Inputs:
    return lambda draw: [batch(draw, 4, 5, scale) for scale in scales]


def images_alike(draw: Draw, scales: tuple[float, ...] = (4.6, 5.0)) -> list[Arguments]:
    """Each text is equal to its image, or opposite: then a pair's share is 0 in float32 at the bound. Where some are
    opposite, all logits of a column, or of a row, are far below the largest of the table."""
    image = draw.normal(1, 5) + draw.normal(4, 5, std=0.2)
    some = image * torch.tensor([[1.0], [-1.0], [-1.0], [1.0]], dtype=torch.float64)
    made = [(image, image.clone()), (image, -image), (image, some), (some, image)]
    return [given(*one, scale) for one in made for scale in scales]


def one_pair(draw: Draw) -> list[Arguments]:
    """There is nothing to choose from, so the loss is 0, even where the text is as far off as can be."""
    x = draw.normal(1, 5)
    return [given(x, draw.normal(1, 5)), given(x, -x, 50.0), given(x[:, :1], -x[:, 1:2], -3.0)]


def far_beyond_the_bound(draw: Draw) -> list[Arguments]:
    """exp(100) is infinite in float32, and exp(1000) everywhere. A single pair has nothing to choose from."""
    x = draw.normal(1, 5)
    return [batch(draw, 4, 5, 100.0), batch(draw, 4, 5, 1000.0), given(x, -x, 1000.0)]


def special_angles(draw: Draw) -> list[Arguments]:
    """Equal, opposite, and orthogonal; where all rows are equal, it is log N."""
    x, basis = draw.normal(4, 6), torch.linalg.qr(draw.normal(6, 6)).Q
    made = [(x, x.clone()), (x, -x), (basis[:3], basis[3:]), (x[:1].repeat(4, 1), x[:1].repeat(4, 1))]
    return [given(*one, scale) for one in made for scale in (0.5, 2.5)]


def uneven_lengths(draw: Draw) -> list[Arguments]:
    factors = torch.tensor([1e-4, 1e4, 1.0, 30.0, 1e-2, 300.0], dtype=torch.float64)
    uneven = batch(draw, 6, 4, std=0.1)  # an eps of 1e-8 beside a product of norms would be too large
    uneven |= {name: uneven[name] * factors[draw.permutation(6), None] for name in ("image", "text")}
    return [uneven, batch(draw, 3, 4, std=1e-4), batch(draw, 3, 4, std=1e6)]


def shaped(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Inputs:
    return lambda draw: [given(draw.normal(*image), draw.normal(*text)) for image, text in shapes]


# Long rows: an eps beside the norm of one number would give it a gradient, which it has not.
SIZES = ((2, 3), (3, 1), (5, 5), (6, 2), (2, 9), (48, 33))
RANKS = [((4,), (4,)), ((4,), (4, 4)), ((4, 4), (4,)), ((2, 4, 4),) * 2, ((2, 4, 4), (4, 4)), ((4, 4), (2, 4, 4))]
OTHERS = [((4, 5), text) for text in ((3, 5), (1, 5), (6, 5), (4, 6), (4, 1), (4, 3), (5, 4))]
# A cosine's rounding error counts a hundredfold.
HUNDREDFOLD = {torch.float32: Tolerance(1e-4, 1e-3, 1e-3)}
# An eps of 1e-12 beside a norm of 1e-4 is welcome, one of 1e-8 is not.
WITH_EPS = {torch.float64: Tolerance(2e-6, 2e-6, 1e-12), torch.float32: Tolerance(1e-4, 1e-4, 1e-5)}
LOSS_ALONE = rounded_at(2.0)  # it is off by less than its gradient
robust = partial(Case, category="robustness")
BUDGET = Budget(
    "many_pairs",
    sizes={"pairs": (64, 512), "features": (16, 64)},
    inputs=lambda draw, pairs, features: batch(draw, pairs, features),
    hints={"pairs": "work on the whole (N, N) matrix", "features": "multiply matrices, do not broadcast and sum"},
)
GRADER = Grader(
    answers=(
        Answer(
            "clip_loss(image, text, logit_scale)",
            oracle=oracle,
            differentiable=("image", "text", "logit_scale"),
            tolerance=rounded_at(1.0),
            budgets=(BUDGET,),
            cases=(
                Case("four_pairs", at(1.0)),
                Case("scales", at(-12.0, -6.0, -2.0, -0.5, 0.0, 2.0, math.log(1 / 0.07))),
                Case("below_the_bound", at(4.0, 4.6, 4.6051), tolerance=HUNDREDFOLD),
                Case("beyond_the_bound", at(4.61, 6.0, 50.0), tolerance=HUNDREDFOLD),
                Case("far_beyond_the_bound", far_beyond_the_bound, tolerance=HUNDREDFOLD, core=False),
                Case("sizes", lambda draw: [batch(draw, *size, 2.0, 1e3) for size in (*SIZES, draw.shape(2))]),
                Case("one_pair", one_pair),
                Case("special_angles", special_angles),
                robust("uneven_lengths", uneven_lengths, tolerance=WITH_EPS),
                robust("images_alike", images_alike, tolerance=HUNDREDFOLD),
                robust(
                    "small_temperature_in_half", at(math.log(20)), gradients="finite", dtypes=HALF, tolerance=LOSS_ALONE
                ),
                # exp(e^scale) overflows float32; what is rounded so much is hardly more than finite.
                robust(
                    "near_the_bound_in_half",
                    partial(images_alike, scales=(4.58,)),
                    gradients="finite",
                    dtypes=HALF,
                    tolerance=rounded_at(4.58),
                ),
                # More than bfloat16 can count.
                robust("many_pairs_in_half", lambda d: batch(d, 300, 4, 2.0), dtypes=HALF, gradients="none"),
                # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
                robust("norm_fits_float16", lambda draw: batch(draw, 4, 64, std=60.0), dtypes=(torch.float16,)),
                Case("other_ranks", shaped(((), ()), *RANKS), raises=ValueError),
                Case("shapes_differ", shaped(*OTHERS, *(one[::-1] for one in OTHERS)), raises=ValueError),
            ),
        ),
    ),
)


def test_order_of_the_pairs_and_of_the_sides_changes_nothing(submission, draw):
    asked, order = batch(draw, 5, 4), draw.permutation(5)
    loss = submission.call("clip_loss", **asked)
    moved = submission.call("clip_loss", **asked | {side: asked[side][order] for side in ("image", "text")})
    close("the loss after permuting the pairs", moved, loss, TOLERANCES[torch.float64])
    swapped = submission.call("clip_loss", **asked | {"image": asked["text"], "text": asked["image"]})
    close("the loss after swapping image and text", swapped, loss, TOLERANCES[torch.float64])
