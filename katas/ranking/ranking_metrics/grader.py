"""What is checked of ndcg_at_k, recall_at_k and reciprocal_rank."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from graders.kata import TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Tolerance

GRADES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float16, torch.bfloat16)
# Quotients of sums of few numbers, in float64 for scores of any dtype.
TOLERANCE = dict.fromkeys(TOLERANCES, Tolerance(0, 0, 1e-10))
OTHER_SHAPES = ((1, 6), (4, 1), (6,), (4,), (1,), (), (6, 4), (24,), (4, 5), (3, 6), (4, 6, 1))  # for (4, 6)


def lists(scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Iterator[list[float]]:
    """The grades of each query's real items, by the first best score that is left."""
    real = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    for score, grade, there in zip(scores.tolist(), relevance.double().tolist(), real.tolist(), strict=True):
        items = sorted((-s, place, g) for place, (s, g, r) in enumerate(zip(score, grade, there, strict=True)) if r)
        yield [g for _, _, g in items]


def ndcg(
    scores: Tensor, relevance: Tensor, k: int | None = None, gain: str = "linear", mask: Tensor | None = None
) -> Tensor:
    def dcg(grades: list[float]) -> float:
        gains = [grade if gain == "linear" else 2**grade - 1 for grade in grades[:k]]
        return math.fsum(one / math.log2(rank + 1) for rank, one in enumerate(gains, start=1))

    each = [(dcg(grades), dcg(sorted(grades, reverse=True))) for grades in lists(scores, relevance, mask)]
    return torch.tensor([found / ideal if ideal else 0.0 for found, ideal in each], dtype=torch.float64)


def recall(scores: Tensor, relevance: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    each = [[grade > 0 for grade in grades] for grades in lists(scores, relevance, mask)]
    return torch.tensor([sum(hits[:k]) / max(sum(hits), 1) for hits in each], dtype=torch.float64)


def first(scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
    each = [
        [1 / rank for rank, grade in enumerate(grades, 1) if grade > 0] for grades in lists(scores, relevance, mask)
    ]
    return torch.tensor([max(found, default=0.0) for found in each], dtype=torch.float64)


def ranked(draw: Draw, Q: int = 5, N: int = 8, most: int = 3, few: float = 0.5, **options: Any) -> Arguments:
    """Grades from 0 to `most`, in no order; each query has a relevant item and one that is not, if it has two."""
    grades = draw.integers(Q, N, low=1, high=most + 1) * (draw.uniform(Q, N) < few)
    for row in grades if N > 1 else ():
        places = draw.permutation(N)
        row[places[0]], row[places[1]] = most, 0
    return {"scores": draw.normal(Q, N, std=3), "relevance": grades, **options}


def masked(draw: Draw, Q: int = 6, N: int = 9, **options: Any) -> Arguments:
    """Padding with grades and with high scores, anywhere; scores of real items may be negative. One query is empty."""
    one = ranked(draw, Q, N, **options)
    real = draw.uniform(Q, N) < 0.6
    real[:, 0], real[:, 1], real[-1] = True, False, False
    one["relevance"] = torch.where(real, one["relevance"], 1 + draw.integers(Q, N, high=5))
    shift = torch.tensor([8.0, -8.0, 0.0])[draw.integers(Q, 1, high=3)].double()
    return one | {"scores": one["scores"] + torch.where(real, -4.0, shift), "mask": real}


def cut(draw: Draw, N: int) -> int:
    """A k below N."""
    return draw.size(2, max(2, N - 2))


def every_k(draw: Draw, name: str) -> list[Arguments]:
    """Below, at and above the number of items, of real ones also."""
    made = [ranked(draw, N=N, k=k) for N in (draw.size(6, 11),) for k in (1, cut(draw, N), N, N + 1, 100)]
    return [*made, *(masked(draw, k=k) for k in (1, 4, 9, 20))] + [ranked(draw)] * (name == "ndcg")


def with_k(name: str) -> Callable[[Draw], dict[str, int]]:
    """What ndcg_at_k may be given, recall_at_k must be given, and reciprocal_rank does not take."""
    return lambda draw: {} if name == "rank" else {"k": draw.size(2, 5)}


def sizes(name: str) -> Callable[..., list[Arguments]]:
    def inputs(draw: Draw, Q: int, N: int) -> list[Arguments]:
        shapes = ((1, N), (Q, 1), (1, 1), (N, N), (Q, N))
        return [ranked(draw, *one) | with_k(name)(draw) for one in shapes] + [masked(draw, Q, N) | with_k(name)(draw)]

    return inputs


def ties(name: str) -> Callable[[Draw], list[Arguments]]:
    """Few distinct scores in rows long enough for a sort that shuffles equal ones; zeros of either sign; one score."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for N in (draw.size(20, 40), draw.size(120, 200)):
            one = ranked(draw, 4, N, few=0.3) | with_k(name)(draw)
            zeros = torch.where(draw.integers(4, N, high=2) == 1, 0.0, -0.0).double()
            grid = draw.integers(4, N, low=-1, high=3).double() / 2
            made += [one | {"scores": scores} for scores in (grid, zeros, torch.full_like(grid, -0.75))]
        one = masked(draw, 6, 40) | with_k(name)(draw)
        return [*made, one | {"scores": one["scores"].sign()}]

    return inputs


def none_relevant(name: str) -> Callable[[Draw], list[Arguments]]:
    """In some queries, in all, and among the real items alone; and where all are padding."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [one | with_k(name)(draw) for one in (ranked(draw), ranked(draw), masked(draw), masked(draw))]
        made[0]["relevance"][1:3] = 0
        made[1]["relevance"][:] = 0
        made[2]["relevance"][made[2]["mask"]] = 0
        made[3]["mask"][:] = False
        return made

    return inputs


def kinds_of_grades(name: str) -> Callable[[Draw], list[Arguments]]:
    """Of every dtype; more relevant items than int8 can count; small and mixed ones."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for dtype in GRADES:
            one = ranked(draw, 3, 300, few=0.9, most=1 if dtype == torch.bool else 3) | with_k(name)(draw)
            made.append(one | {"relevance": one["relevance"].to(dtype)})
            made[-1] |= {} if name == "rank" else {"k": 280}
        small = draw.uniform(4, 7, low=0.01, high=0.9) * (draw.uniform(4, 7) < 0.6)
        small[:, 0] = 0.01
        made.append(ranked(draw, 4, 7) | {"relevance": small} | with_k(name)(draw))
        return made + [one | {"gain": "exp2"} for one in made] * (name == "ndcg")

    return inputs


def far_scores(name: str) -> Callable[[Draw], list[Arguments]]:
    """Below any constant that padding might get; large ones; and such as differ in their last digits alone."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [masked(draw) | with_k(name)(draw) for _ in range(4)]
        rank = made[0]["scores"].argsort(1).argsort(1).double()
        changed = (
            made[0]["scores"] * 1e30,
            made[0]["scores"] * 1e35 - 2e37,
            made[0]["scores"] * 1e-30,
            0.7 + 1e-13 * rank,
        )
        return [one | {"scores": scores} for one, scores in zip(made, changed, strict=True)]

    return inputs


def gains(draw: Draw) -> list[Arguments]:
    made = [ranked(draw, gain=gain, most=6) for gain in ("exp2", "linear")]
    made += [ranked(draw, gain="exp2", k=cut(draw, 8)), masked(draw, gain="exp2", k=4)]
    return [*made, ranked(draw, gain="exp2", most=40)]


def of_other_shapes(name: str) -> Callable[[Draw], list[Arguments]]:
    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for shape in OTHER_SHAPES:
            usual = ranked(draw, 4, 6) | with_k(name)(draw)
            made.append(usual | {"scores": draw.normal(*shape)})
            made.append(usual | {"relevance": draw.integers(*shape, high=3)})
            made.append(usual | {"mask": torch.ones(shape, dtype=torch.bool)})
        made.append(usual | {"scores": draw.normal(6), "relevance": draw.integers(6, high=3)})
        made.append(usual | {"scores": draw.normal(2, 4, 6), "relevance": draw.integers(2, 4, 6, high=3)})
        return made

    return inputs


def bad_values(name: str) -> Callable[[Draw], list[Arguments]]:
    """One NaN among the scores, or one negative grade, first, last or in between; or nothing else."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for place in (0, 23, draw.size(1, 22), slice(None)):
            for which, value in (("scores", torch.nan), ("relevance", -1)):
                made.append(ranked(draw, 4, 6) | with_k(name)(draw))
                made[-1][which].view(-1)[place] = value
        small = ranked(draw, 4, 6) | with_k(name)(draw)
        return [*made, small | {"relevance": small["relevance"].double() - 0.01}]

    return inputs


HINTS = {"queries": "sort and gather all queries at once", "items": "sort once, then slice"}


def asked(name: str, signature: str, oracle: Callable[..., Tensor], *cases: Case) -> Answer:
    """Each metric is asked about the same kinds of input."""
    return Answer(
        signature,
        oracle=oracle,
        returns=(torch.float64,),
        tolerance=TOLERANCE,
        cases=(
            Case(f"{name}_of_five_queries", lambda draw: ranked(draw) | ({"k": 3} if name == "recall" else {})),
            Case(f"{name}_of_sizes", sizes(name), sizes={"Q": (2, 6), "N": (4, 9)}),
            Case(f"{name}_with_mask", lambda draw: [masked(draw) | with_k(name)(draw) for _ in range(3)]),
            Case(f"{name}_without_relevant", none_relevant(name)),
            *cases,
            Case(f"{name}_ties", ties(name), category="robustness", dtypes=(torch.float64, torch.float16)),
            Case(f"{name}_kinds_of_grades", kinds_of_grades(name), category="robustness", dtypes=(torch.float32,)),
            Case(f"{name}_far_scores", far_scores(name), category="robustness", dtypes=(torch.float64,)),
            Case(f"{name}_other_shapes", of_other_shapes(name), raises=ValueError),
            Case(f"{name}_bad_values", bad_values(name), raises=ValueError),
        ),
        budgets=(
            Budget(
                f"{name}_of_many",
                sizes={"queries": (20, 80), "items": (20, 80)},
                inputs=lambda draw, queries, items: (
                    ranked(draw, queries, items) | ({"k": 10} if name != "rank" else {})
                ),
                hints=HINTS,
            ),
        ),
    )


def k_below_1(draw: Draw) -> list[Arguments]:
    return [ranked(draw, k=k) for k in (0, -1, -3)]


GRADER = Grader(
    answers=(
        asked(
            "ndcg",
            'ndcg_at_k(scores, relevance, k=None, gain="linear", mask=None)',
            ndcg,
            Case("k_and_gain", lambda draw: [*every_k(draw, "ndcg"), *gains(draw)]),
            Case("ndcg_k_below_1", k_below_1, raises=ValueError),
            Case(
                "unknown_gain",
                lambda draw: [ranked(draw, gain=word) for word in ("exp", "log", "Linear", "")],
                raises=ValueError,
            ),
        ),
        asked(
            "recall",
            "recall_at_k(scores, relevance, k, mask=None)",
            recall,
            Case("recall_every_k", lambda draw: every_k(draw, "recall")),
            Case("recall_k_below_1", k_below_1, raises=ValueError),
        ),
        asked("rank", "reciprocal_rank(scores, relevance, mask=None)", first),
    )
)
