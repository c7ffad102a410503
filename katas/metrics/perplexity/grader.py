"""What is checked of perplexity."""

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
    Submission,
    Tolerance,
    close,
    far,
    last_places,
)

# Neighbours of 800 are 6e-5 apart in float32, so the log of a sum found there is no closer.
NEAR_800 = Tolerance(2e-4, 1e-5, 1e-4)


def oracle(logits: Tensor, target: Tensor, **options: int) -> Tensor:
    return F.cross_entropy(logits.mT, target, **options).exp()


def batch(draw: Draw, B: int = 4, S: int = 5, V: int = 7, **options: Any) -> Arguments:
    return {"logits": draw.normal(B, S, V), "target": draw.integers(B, S, high=V), **options}


def padded(draw: Draw, ignored: int = -100) -> Arguments:
    """Sequences of 5, 1, 3 and 0 tokens. In the first two the model is often right, so that their means differ."""
    one = batch(draw) | ({} if ignored == -100 else {"ignore_index": ignored})
    target = torch.where(one["target"] == ignored, (ignored + 1) % 7, one["target"])
    if ignored >= 7:
        target[0, 0] = ignored % 2**32 % 7  # a token that counts, whatever width `ignored` is cut to
    one["logits"][:2] += 4.0 * F.one_hot(target[:2], 7)
    one["target"] = torch.where(torch.arange(5) < torch.tensor([[5], [1], [3], [0]]), target, ignored)
    return one


def many(draw: Draw, sequences: int, positions: int) -> Arguments:
    """Each sequence has some padding."""
    one = batch(draw, sequences, positions, 64)
    one["target"][:, -2:] = -100
    return one


def large(draw: Draw) -> Arguments:
    """468 tokens count, here and there; chunks of a power of 2 leave a smaller last one."""
    one = batch(draw, 17, 31, 50)
    one["target"].view(-1)[::9] = -100
    return one


def regrouped(one: Arguments, order: Tensor, B: int) -> Arguments:
    """The same tokens in another order, in B sequences."""
    return {name: values.flatten(0, 1)[order].unflatten(0, (B, -1)) for name, values in one.items()}


def padding(draw: Draw) -> list[Arguments]:
    """At the end, in front, and in between; then a single token counts."""
    single = padded(draw)
    single["target"][0, :4] = single["target"][1:] = -100
    front = {name: values.flip(1) for name, values in padded(draw).items()}
    return [padded(draw), front, regrouped(padded(draw), draw.permutation(20), 4), single]


def known_perplexities(draw: Draw) -> list[Arguments]:
    """V for equal logits, 1 for a model that is sure and right."""
    equal, sure = padded(draw) | {"logits": draw.normal(4, 5, 1).repeat(1, 1, 7)}, batch(draw)
    return [equal, sure | {"logits": sure["logits"] + 60.0 * F.one_hot(sure["target"], 7)}]


def shifted_logits(draw: Draw) -> list[Arguments]:
    """exp overflows above 88.7 in float32 and 709.8 in float64, and underflows below -104 and -745.

    The last shifts lie so far apart within a sequence, too.
    """
    shifts = (800.0, -800.0, torch.linspace(-800, 800, 20).view(5, 4).mT[..., None])
    return [one | {"logits": one["logits"] + shift} for shift in shifts for one in [padded(draw)]]


def far_tokens(draw: Draw) -> list[Arguments]:
    """One target of 200 has a logit 1000 below the best; then all are far apart, and the perplexity exceeds 1e12."""
    one, far = batch(draw, S=50), batch(draw, S=50)
    best = one["target"].clone()
    best[1, 7] = (best[1, 7] + 3) % 7
    return [one | {"logits": one["logits"] + 1000.0 * F.one_hot(best, 7)}, far | {"logits": far["logits"] * 30}]


def far_logits_in_half(draw: Draw) -> list[Arguments]:
    """The right token has the largest logit, but for one around 110: the perplexities are 2 and 1. Some is padding."""
    made = [{"logits": logits.view(4, 5, 7), "target": logits.argmax(1).view(4, 5)} for logits in far.rows(draw, 20, 7)]
    made[0]["target"][0, 0] = made[0]["logits"][0, 0].topk(2).indices[1]
    for one in made:
        one["target"][2, 3:] = -100
    return made


def far_from_right(draw: Draw) -> Arguments:
    """The perplexity exceeds 1e250."""
    one = batch(draw)
    return one | {"logits": one["logits"] + 690.0 * F.one_hot((one["target"] + 1) % 7, 7)}


def impossible_tokens(draw: Draw) -> Arguments:
    """Where the position counts, two tokens other than the target have a logit of -inf."""
    one = padded(draw)
    others = (one["target"][..., None] + torch.tensor([2, 3])) % 7
    impossible = one["logits"].scatter(2, others, -torch.inf)
    return one | {"logits": torch.where(one["target"][..., None] == -100, one["logits"], impossible)}


def no_such_token(draw: Draw) -> list[Arguments]:
    """One bad token among good ones, the usual ignore_index included where another is chosen."""
    made = []
    for token, chosen in ((7, -100), (-1, -100), (-7, -100), (1000, -100), (-99, -100), (-100, -1), (7, 255), (-1, 2)):
        made.append(padded(draw, chosen))
        made[-1]["target"][int(draw.integers(high=4)), int(draw.integers(high=5))] = token
    return made


def refused(name: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Case:
    """Logits and targets of these shapes; the targets are tokens that exist. Some would do once flattened."""
    return Case(
        name,
        lambda draw: [{"logits": draw.normal(*z), "target": draw.integers(*y, high=2)} for z, y in shapes],
        raises=ValueError,
    )


def of_sizes(name: str, *sizes: tuple[int, int, int]) -> Case:
    return Case(name, lambda draw: [batch(draw, *size) for size in (*sizes, draw.shape(3))])


GRADER = Grader(
    answers=(
        Answer(
            "perplexity(logits, target, ignore_index=-100)",
            oracle=oracle,
            differentiable=("logits",),
            budgets=(
                Budget(
                    "many_tokens",
                    sizes={"sequences": (8, 32), "positions": (8, 32)},
                    inputs=many,
                    hints=dict.fromkeys(("sequences", "positions"), "F.cross_entropy takes all tokens at once"),
                ),
                Budget(
                    "large_vocabulary",
                    sizes={"vocabulary": (500, 5000)},
                    inputs=lambda draw, vocabulary: batch(draw, 4, 8, vocabulary),
                    asks=("memory",),
                    hints={"vocabulary": "pick the target's entry instead of making a table of V by V"},
                ),
            ),
            cases=(
                # Where the mean is off by 1e-3, its exponential is off by 0.1 %.
                Case("four_sequences", batch, tolerance=last_places(8)),
                Case("padding", padding),
                Case(
                    "chosen_ignore_index",
                    lambda draw: [padded(draw, index) for index in (-1, 0, 3, 7, 255, 2**32 + 1, draw.size(8, 99))],
                ),
                of_sizes("sizes_of_one", (1, 6, 5), (6, 1, 5), (1, 1, 5), (3, 4, 1)),
                of_sizes("equal_sizes", (3, 5, 5), (5, 3, 5), (5, 5, 3), (4, 4, 4)),
                Case("large_batch", lambda draw: [large(draw), batch(draw, *draw.shape(3))]),
                Case("known_perplexities", known_perplexities),
                Case("shifted_logits", shifted_logits, category="robustness", tolerance={torch.float32: NEAR_800}),
                Case("far_tokens", far_tokens, category="robustness"),
                Case(
                    "far_logits_in_half",
                    far_logits_in_half,
                    gradients="none",
                    category="robustness",
                    dtypes=HALF,
                ),
                Case("far_from_right", far_from_right, dtypes=(torch.float64,), category="robustness"),
                Case("impossible_tokens", impossible_tokens, category="robustness"),
                refused(
                    "logits_not_3d",
                    *[((4, 5), y) for y in ((4, 5), (4, 1), (1, 4), (4,))],
                    *[((3, 4, 5, 2), y) for y in ((3, 4), (12, 5), (3, 4, 5))],
                    *[((1, 3, 4, 5), (3, 4)), ((5,), (1, 1))],
                ),
                refused("target_not_2d", *[((1, 4, 5), y) for y in ((4,), (1,), (), (1, 4, 1), (1, 1, 4), (1, 4, 5))]),
                refused(
                    "shapes_differ",
                    *[
                        ((3, 4, 5), y)
                        for y in ((4, 3), (3, 3), (3, 5), (2, 4), (4, 4), (1, 4), (3, 1), (2, 6), (1, 12))
                    ],
                    *[(z, (3, 4)) for z in ((1, 4, 5), (3, 1, 5))],
                ),
                Case("no_such_token", no_such_token, raises=ValueError),
            ),
        ),
    ),
)


def test_only_the_tokens_matter(submission: Submission, draw: Draw) -> None:
    once = padded(draw)
    twice = {name: torch.cat([values, values]) for name, values in regrouped(once, draw.permutation(20), B=2).items()}
    expected, got = (submission.call("perplexity", **one) for one in (once, twice))
    close("the perplexity of the same tokens twice, in another order", got, expected, TOLERANCES[torch.float64])
