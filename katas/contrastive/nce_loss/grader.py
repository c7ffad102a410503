"""What is checked of nce_loss."""

import math

import torch
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
    last_places,
)

NAMES = ("pos_scores", "neg_scores", "log_noise_pos", "log_noise_neg")


def oracle(pos_scores: Tensor, neg_scores: Tensor, log_noise_pos: Tensor, log_noise_neg: Tensor) -> Tensor:
    """logaddexp(0, x) is −log σ(−x), of any x, and its slope at 0 is ½."""
    log_K, zero = math.log(neg_scores.shape[1]), torch.zeros(()).double()
    of_data = torch.logaddexp(zero, log_noise_pos + log_K - pos_scores)
    of_noise = torch.logaddexp(zero, neg_scores - log_noise_neg - log_K)
    return of_data.mean() + of_noise.sum() / len(pos_scores)


def given(draw: Draw, N: int, K: int, std: float = 1.0, mean: float = -3.0) -> Arguments:
    """Scores about as high as the log-probabilities of the noise."""
    shapes = ((N,), (N, K))
    scores = [draw.normal(*shape, std=std, mean=mean) for shape in shapes]
    noise = [draw.uniform(*shape, low=mean - 2, high=mean + 2) for shape in shapes]
    return dict(zip(NAMES, [*scores, *noise], strict=True))


def sizes(draw: Draw) -> list[Arguments]:
    return [
        given(draw, N, K) for N, K in ((1, 1), (1, 5), (4, 1), (6, 6), (9, 2), (3, 217), (40, 17), draw.shape(2, 3, 20))
    ]


def zero_logits(draw: Draw) -> Arguments:
    """K = 1, so log K is 0, and half of the scores are exactly the log-probability of the noise."""
    made = given(draw, 8, 1)
    half = draw.permutation(8)[:4]
    made["pos_scores"][half], made["neg_scores"][half] = made["log_noise_pos"][half], made["log_noise_neg"][half]
    return made


def moderate_logits(draw: Draw) -> Arguments:
    """Where an approximation may cut off: δ of both signs and of each size up to 20, where F.softplus does."""
    levels = (torch.linspace(5, 19.8, 32).double() + draw.uniform(32, low=-0.2, high=0.2)) * far.signs(32).flatten()
    levels, made = levels[draw.permutation(32)], given(draw, 8, 3)
    made["pos_scores"] = made["log_noise_pos"] + math.log(3) + levels[:8]
    made["neg_scores"] = made["log_noise_neg"] + math.log(3) + levels[8:].reshape(8, 3)
    return made


def far_logits(draw: Draw) -> list[Arguments]:
    """Right and wrong scores of each size; the largest come alone, so that the others show."""
    made = []
    for size in (9.0, 13.0, 17.0, 25.0, 50.0, 120.0, 1000.0, 10000.0):
        one = given(draw, 4, 6)
        one["pos_scores"] += size * torch.tensor([1.0, -1, -1, 0])[draw.permutation(4)]
        one["neg_scores"] += size * torch.tensor([1.0, -1, -1, 0, 1, 0])[draw.permutation(6)]
        made.append(one)
    return made


def far_in_half(draw: Draw) -> list[Arguments]:
    """No row's sum exceeds float16, nor that of all rows."""
    made = []
    for pos, neg in zip(far.numbers(draw, 2), far.numbers(draw, 2, 2), strict=True):
        made.append(given(draw, 2, 2) | {"pos_scores": pos, "neg_scores": neg})
    return made


def shaped(*shapes: tuple[tuple[int, ...], ...]) -> Inputs:
    return lambda draw: [{name: draw.normal(*one) for name, one in zip(NAMES, each, strict=True)} for each in shapes]


# Shapes of all four arguments, where N is 4 and K is 3, or both are 4.
OTHER_POS = [(pos, (4, 3), pos, (4, 3)) for pos in ((4, 1), (4, 3), (1, 4), (3,), (1,), (5,), ())]
OTHER_POS += [((4, 4), (4, 4), (4, 4), (4, 4)), ((4, 1), (4, 3), (4,), (4, 3)), ((), (1, 3), (), (1, 3))]
OTHER_NEG = [
    ((4,), neg, (4,), neg) for neg in ((4,), (12,), (1, 3), (3, 4), (5, 3), (4, 3, 2), (4, 1, 3), (1, 4, 3), ())
]
OTHER_NOISE_POS = [((4,), (4, 3), noise, (4, 3)) for noise in ((1,), (), (4, 1), (1, 4), (5,), (3,), (4, 3))]
OTHER_NOISE_POS += [((1,), (1, 3), (), (1, 3)), ((1,), (1, 3), (4,), (1, 3))]
ROWS = ((1, 3), (4, 1), (3,), (), (1,), (3, 4), (12,), (4, 2), (5, 3), (4, 3, 1), (1, 4, 3))
OTHER_NOISE_NEG = [((4,), (4, 3), (4,), noise) for noise in ROWS]
OTHER_NOISE_NEG += [((4,), (4, 4), (4,), (4,)), ((1,), (1, 3), (1,), (4, 3)), ((4,), (4, 1), (4,), (4, 3))]

GRADER = Grader(
    answers=(
        Answer(
            "nce_loss(pos_scores, neg_scores, log_noise_pos, log_noise_neg)",
            oracle=oracle,
            differentiable=("pos_scores", "neg_scores"),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (128, 1024), "noise_samples": (4, 24)},
                    inputs=lambda draw, samples, noise_samples: given(draw, samples, noise_samples),
                    hints={
                        "samples": "each row needs only its own noise samples: nothing of size (N, N)",
                        "noise_samples": "take all (N, K) at once, and sum along the rows",
                    },
                ),
            ),
            cases=(
                Case("five_by_seven", lambda draw: given(draw, 5, 7)),
                Case("sizes", sizes),
                Case("densities_above_one", lambda draw: [given(draw, 5, 7, mean=mean) for mean in (1.0, 6.0)]),
                Case("zero_logits", zero_logits, core=False),
                Case("moderate_logits", moderate_logits, dtypes=(torch.float64,), category="robustness"),
                Case(
                    "far_logits",
                    far_logits,
                    category="robustness",
                    # From 20 on F.softplus(x) is x, which is off by e⁻²⁰ = 2e-9, and welcome.
                    tolerance={torch.float64: Tolerance(1e-8, 1e-8, 1e-8)},
                ),
                # float16 rounds σ(−18) to 0, and 1 − σ(−9) to 1.
                Case(
                    "far_logits_in_half",
                    lambda draw: [given(draw, 5, 7, std=30.0), *far_in_half(draw)],
                    category="robustness",
                    dtypes=HALF,
                    tolerance=last_places(4, absolute=2),  # a gradient, at most 1, may be small in both rows
                ),
                # exp(−1000) is also 0 in float64. In float32 numbers of about 1000 are 6e-5 apart.
                Case(
                    "many_dimensions",
                    lambda draw: [given(draw, 5, 7, mean=mean) for mean in (-1000.0, 1000.0)],
                    category="robustness",
                    tolerance={torch.float32: Tolerance(1e-3, 1e-4, 1e-4)},
                ),
                Case("pos_scores_of_another_shape", shaped(*OTHER_POS), raises=ValueError),
                Case("neg_scores_of_another_shape", shaped(*OTHER_NEG), raises=ValueError),
                Case("noise_of_the_data_of_another_shape", shaped(*OTHER_NOISE_POS), raises=ValueError),
                Case("noise_of_the_noise_of_another_shape", shaped(*OTHER_NOISE_NEG), raises=ValueError),
            ),
        ),
    ),
)


def test_scores_that_are_the_noise_give_the_entropy_of_a_guess(submission: Submission, draw: Draw) -> None:
    """Then a sample is data with a probability of 1 / (K + 1), and noise with one of K / (K + 1)."""
    noise = {name: value for name, value in given(draw, 5, 7).items() if name.startswith("log")}
    scores = {"pos_scores": noise["log_noise_pos"], "neg_scores": noise["log_noise_neg"]}
    expected = torch.tensor(8 * math.log(8) - 7 * math.log(7), dtype=torch.float64)
    close("the loss", submission.call("nce_loss", **scores, **noise), expected, TOLERANCES[torch.float64])
