"""What is checked of knn_accuracy."""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import FULL, HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance

Labels = tuple[int, ...]
SHARE = dict.fromkeys((*FULL, *HALF), Tolerance(0.0, 0.0, 1e-6))  # a mean in float32 is near enough
FAR_LABELS = {"M": 20, "labels": (150_001, 44, 45, 300), "right": 0.9}
CHUNKED = "compare at most 256 test rows at a time with all training rows"


def neighbours(train_x: Tensor, test_x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The cosines of the k nearest training rows of each test row, falling, and which rows they are."""
    cosines = F.normalize(test_x, dim=1) @ F.normalize(train_x, dim=1).T
    found = cosines.topk(min(k, len(train_x)), dim=1)
    return found.values, found.indices


def elected(train_y: Tensor, nearest: Tensor) -> Tensor:
    labels = train_y.unique()  # ascending
    votes = (train_y[nearest].unsqueeze(2) == labels).sum(1)
    return labels[(votes * len(labels) - torch.arange(len(labels))).argmax(1)]  # of equal ones the first


def by_definition(train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor, k: int = 20) -> float:
    _, nearest = neighbours(train_x, test_x, k)
    return float((elected(train_y, nearest) == test_y).double().mean())


def arguments(
    draw: Draw,
    train_x: Tensor,
    train_y: Tensor,
    test_x: Tensor,
    k: int,
    right: float = 0.6,
    nearest: Tensor | None = None,
) -> Arguments:
    """Test labels of which at least about that share is right, so that other predictions lower the accuracy."""
    nearest = neighbours(train_x, test_x, k)[1] if nearest is None else nearest
    others = train_y[draw.integers(len(test_x), high=len(train_y))]
    test_y = torch.where(draw.uniform(len(test_x)) < right, elected(train_y, nearest), others)
    given = {"train_x": train_x, "train_y": train_y, "test_x": test_x, "test_y": test_y}
    return given if k == 20 else given | {"k": k}  # the default is really used


def rows(draw: Draw, N: int, D: int) -> Tensor:
    """In all directions, and of very different lengths."""
    return draw.normal(N, D) * 10 ** draw.uniform(N, 1, low=-4.5, high=3.0)


def clear(
    draw: Draw, N: int = 60, M: int = 40, k: int = 5, D: int = 6, labels: Labels = (0, 1, 2, 3), right: float = 0.6
) -> Arguments:
    """Random labels, and those test rows for which it is clearest who the k nearest are."""
    train_x, test_x = rows(draw, N, D), rows(draw, M + 200, D)
    cosines, nearest = neighbours(train_x, test_x, k + 1)
    clearest = (-cosines.diff(dim=1)[:, k - 1 : k].sum(1)).argsort(descending=True)[:M]
    train_y = torch.tensor(labels)[draw.integers(N, high=len(labels))]
    return arguments(draw, train_x, train_y, test_x[clearest], k, right, nearest[clearest, :k])


def several(*wanted: dict[str, Any]) -> Inputs:
    return lambda draw: [clear(draw, **one) for one in wanted]


def any_size(draw: Draw) -> Arguments:
    N, M, D = draw.size(61, 99), draw.size(41, 60), draw.size(4, 12)
    return clear(draw, N, M, draw.size(3, 30), D)


def clusters(draw: Draw) -> Arguments:
    """Four, far apart; of the 20 training rows of each, eight have the same label. Those rows are tested, too."""
    centres = torch.linalg.qr(draw.normal(8, 4)).Q.T
    labels = torch.stack([torch.tensor([0, 1, 2, 3]).roll(shift) for shift in (0, 1, 1, 2, 3)], 1).repeat(1, 4)

    def around(which: Tensor) -> Tensor:
        return (centres[which] + draw.normal(len(which), 8, std=0.1)) * 10 ** draw.uniform(
            len(which), 1, low=-4, high=4
        )

    train_x = around(torch.arange(4).repeat_interleave(20))
    return arguments(draw, train_x, labels.flatten(), torch.cat([around(draw.integers(61, high=4)), train_x]), 20)


def counts(draw: Draw) -> list[Arguments]:
    """All training rows vote. Narrow dtypes wrap around, or stop counting at 256 (bfloat16) or 2048 (float16)."""
    made = []
    for votes in ([60, 300], [40, 120, 256], [120, 130], [300, 301], [2048, 2049]):
        train_y = torch.arange(len(votes)).repeat_interleave(torch.tensor(votes))[draw.permutation(sum(votes))]
        made.append(arguments(draw, rows(draw, len(train_y), 3), train_y, rows(draw, 5, 3), len(train_y), right=1.0))
    return made


def uneven_chunks(draw: Draw) -> list[Arguments]:
    """The last ones wrong, or the first; 521 is prime, so that no size of chunks divides it."""
    made = [clear(draw, M=M, right=1.0) for M in (521, 521, 300, 300, 257, 256)]
    parts = (slice(-45, None), slice(-45), slice(-45, None), slice(-20), slice(256), slice(9, 99))
    for one, part in zip(made, parts, strict=True):
        one["test_y"][part] += 9
    return made


def every_k(draw: Draw) -> list[Arguments]:
    return [*(clear(draw, k=k) for k in (1, 2, 3, 4, 7, 25, 59)), any_size(draw)]


def unknown_labels(draw: Draw) -> list[Arguments]:
    """Test labels below, between and above those of the training rows; then all the same one, known or not."""
    made = []
    for labels, unknown in (((2, 5, 9), (0, 1, 3, 4, 6, 8, 10, 500)), ((3,), (2, 4))):
        one = clear(draw, labels=labels, right=1.0)
        strangers = torch.tensor(unknown)[draw.integers(40, high=len(unknown))]
        made.append(one | {"test_y": torch.where(draw.uniform(40) < 0.4, strangers, one["test_y"])})
    return made + [made[0] | {"test_y": torch.full((40,), label)} for label in (2, 4, 5)]


def twins(draw: Draw) -> Arguments:
    """Of every two training rows a billionth apart, each 0.01 or 1000 long, one has label 0 and one label 1."""
    one = F.normalize(draw.normal(30, 5), dim=1)
    train_x = torch.cat([one, F.normalize(one + draw.normal(30, 5, std=1e-9), dim=1)])
    test_x = draw.normal(400, 5)
    two = (F.normalize(test_x, dim=1) @ train_x.T).topk(2, dim=1).values
    test_x = test_x[(two[:, 0] - two[:, 1]).argsort(descending=True)[:40]]
    train_x *= 10.0 ** (5 * draw.integers(60, 1, high=2) - 2)
    return arguments(draw, train_x, torch.arange(2).repeat_interleave(30), test_x, 1, right=0.9)


def the_training_rows(draw: Draw) -> list[Arguments]:
    """Each is its own nearest one, far from the others. The first call is also made with one tensor for both."""
    train_x = rows(draw, 30, 30)
    return [arguments(draw, train_x, torch.arange(3).repeat(10), train_x, k) for k in (3, 1)]


def refused(name: str, *changes: dict[str, Any]) -> Case:
    """Good sizes but for each of these changes."""

    def drawn(draw: Draw, key: str, size: Any) -> Any:
        return size if key == "k" else draw.normal(*size) if key.endswith("x") else draw.integers(*size, high=3)

    good = {"train_x": (9, 4), "train_y": (9,), "test_x": (6, 4), "test_y": (6,), "k": 3}
    calls = [(good | one).items() for one in changes]
    return Case(
        name, lambda draw: [{key: drawn(draw, key, size) for key, size in one} for one in calls], raises=ValueError
    )


robust = partial(Case, category="robustness")

GRADER = Grader(
    answers=(
        Answer(
            "knn_accuracy(train_x, train_y, test_x, test_y, k=20)",
            oracle=by_definition,
            tolerance=SHARE,
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"test_rows": (256, 4096), "train_rows": (512, 3072)},
                    inputs=lambda draw, test_rows, train_rows: clear(draw, train_rows, test_rows, 20, 16),
                    asks=("memory",),
                    written=12,
                    peak=5,
                    hints=dict.fromkeys(("test_rows", "train_rows"), CHUNKED),
                ),
                Budget(
                    "many_votes",
                    sizes={"test_rows": (128, 512), "classes": (8, 64), "neighbours": (8, 64)},
                    inputs=lambda draw, test_rows, classes, neighbours: clear(
                        draw, 1000, test_rows, neighbours, 6, tuple(range(0, 40 * classes, 40))
                    ),
                    asks=("loops",),
                    operators=12,
                    hints={"test_rows": CHUNKED} | dict.fromkeys(("classes", "neighbours"), "count all votes at once"),
                ),
            ),
            cases=(
                Case("clusters", clusters),
                Case("default_k", several(*[{"k": 20, "labels": (0, 1, 2)}] * 3)),
                Case("every_k", every_k),
                Case("tied_votes", several(*[{"k": k, "labels": y} for k in (2, 4, 6) for y in ((3, 8), (9, 5, 2))])),
                Case("k_of_N_and_more", several(*[{"N": 7, "k": k, "labels": (1, 4)} for k in (7, 8, 1000, 20)])),
                Case("single_rows", several({"M": 1}, {"N": 1}, {"N": 1, "M": 1, "k": 20}, {"N": 8, "D": 1, "k": 8})),
                Case("uneven_chunks", uneven_chunks),
                Case("unknown_labels", unknown_labels),
                Case(
                    "large_labels",
                    several({"M": 20, "labels": (70_001, 44, 70_000, 300), "right": 0.4}, FAR_LABELS),
                    core=False,
                ),
                robust("the_training_rows", the_training_rows),
                robust("counts", counts, dtypes=(*FULL, *HALF)),
                robust("twins", twins, dtypes=(torch.float64,)),
                refused("k_below_1", {"k": 0}, {"k": -1}, {"k": -9}),
                refused(
                    "not_2d",
                    *[{"train_x": shape} for shape in ((9,), (9, 4, 4), (9, 4, 1))],
                    *[{"test_x": shape} for shape in ((6,), (6, 4, 4), (6, 4, 1))],
                    *[{"train_x": (4,), "train_y": (1,)}, {"test_x": (4,), "test_y": (1,)}],  # a row by itself
                    {"train_x": (9, 4, 4), "test_x": (6, 4, 4)},
                    *[{"train_x": (9,), "test_x": (6, 1)}, {"train_x": (9, 1), "test_x": (6,)}],
                ),
                refused("widths_differ", *[{"test_x": (6, D)} for D in (3, 5, 1)], {"train_x": (9, 1)}),
                refused(
                    "lengths_differ",
                    *[{y: (n,)} for y in ("train_y", "test_y") for n in (1, 5, 7, 10)],
                    {"train_y": (10,), "test_y": (5,)},
                ),
            ),
        ),
    ),
)
