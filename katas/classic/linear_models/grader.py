"""What is checked of linear_regression and logistic_regression."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, CheckFailed, Draw, Grader, Submission, Tolerance, several

ALONE = (torch.float64,)
DIGITS = {torch.float32: Tolerance(0, 1e-4, 1e-4)}
# Whether a fit has arrived is seen by its gradient. A line search in float32 stops up to 3e-3 before the minimum.
ROUGHLY = dict.fromkeys((torch.float64, torch.float32), Tolerance(0, 1e-2, 1e-2))
LEAST = 1e-8  # of the gradient over N and the largest |x|
NEAR = 1e-7  # the same with large features, where a line search that compares losses may stop above 1e-8
VECTORS = "take all rows at once: x @ w + b, and x.T @ errors for the gradient"


def least_squares(x: Tensor, y: Tensor, l2: float = 0.0) -> tuple[Tensor, Tensor]:
    """The penalty as D more rows; LAPACK's gelsd, by singular values, gives the w of least norm."""
    rows = torch.cat([x - x.mean(0), l2**0.5 * torch.eye(x.shape[1]).to(x)])
    targets = F.pad(y - y.mean(), (0, x.shape[1]))[:, None]
    w = torch.linalg.lstsq(rows, targets, driver="gelsd").solution[:, 0]
    return w, y.mean() - x.mean(0) @ w


def steepness(x: Tensor, y: Tensor, l2: float, *, w: Tensor, b: Tensor) -> float:
    """The length of the logistic loss's gradient, divided by N and by max(1, largest |x|)."""
    errors = torch.sigmoid(x @ w + b) - y
    gradient = torch.cat([x.T @ errors + l2 * w, errors.sum()[None]])
    return float(gradient.norm() / x.abs().max().clamp(min=1)) / len(x)


def maximum_likelihood(x: Tensor, y: Tensor, l2: float = 1.0) -> tuple[Tensor, Tensor]:
    """Newton's method, damped more after each step that goes uphill. Raises: RuntimeError if it does not arrive."""
    X, penalty = F.pad(x, (0, 1), value=1.0), F.pad(torch.full_like(x[0], l2), (0, 1))

    def loss(theta: Tensor) -> float:
        return float(F.binary_cross_entropy_with_logits(X @ theta, y, reduction="sum") + penalty @ theta**2 / 2)

    y, theta, damping = y.double(), torch.zeros_like(penalty), 1e-3
    for _ in range(300):
        p = torch.sigmoid(X @ theta)
        hessian = X.T @ (X * (p * (1 - p))[:, None]) + penalty.diag()
        damped = hessian + damping * hessian.diag().diag()
        moved = theta - torch.linalg.solve(damped, X.T @ (p - y) + penalty * theta)
        downhill = loss(moved) <= loss(theta) * (1 + 1e-12)  # which rounding may raise
        theta, damping = (moved, damping / 10) if downhill else (theta, damping * 10)
        if steepness(x, y, l2, w=theta[:-1], b=theta[-1]) < LEAST / 100:
            return theta[:-1], theta[-1]
    raise RuntimeError("the oracle does not arrive")


# Scenarios.


def labels_of_a_kind(logistic_regression, x, y, kind):
    """Also labels in float64 where x is float32, and the other way round."""
    w, b = logistic_regression(x, y.to(getattr(torch, kind)))
    return {"w": w, "b": b}


def lines(linear_regression, number, **data):
    """Of x0 and y0, x1 and y1, …"""
    return [list(linear_regression(data[f"x{i}"], data[f"y{i}"])) for i in range(number)]


def fits(logistic_regression, penalties, **data):
    return [list(logistic_regression(data[f"x{i}"], data[f"y{i}"], l2)) for i, l2 in enumerate(penalties)]


def line(draw: Draw, N: int, D: int, **more: Any) -> Arguments:
    """Features around 2, and targets around 5."""
    x = draw.normal(N, D, mean=2)
    return {"x": x, "y": x @ draw.normal(D) + draw.normal(N) + 5, **more}


def classes(draw: Draw, N: int, D: int, std: float = 1, mean: float = 0, noise: float = 2, **more: Any) -> Arguments:
    """A third of the rows has the label 1, by a weighted sum of the features and some noise."""
    features = draw.normal(N, D)
    order = (features @ draw.normal(D).sign() + noise * draw.normal(N)).argsort(descending=True)
    y = torch.zeros(N, dtype=torch.int64).index_fill(0, order[: (N + 2) // 3], 1)
    return {"x": features * std + mean, "y": y, **more}


def each(make: Callable[..., Arguments], *sizes: tuple[int, int, dict[str, Any]]) -> Callable[[Draw], Any]:
    return lambda draw: [make(draw, N, D, **more) for N, D, more in sizes]


def drawn(make: Callable[..., Arguments]) -> Callable[..., Arguments]:
    """Of a size and a penalty that the seed draws."""
    return lambda draw, N, D: make(draw, N, D, l2=draw.number(0.3, 9))


def least_norm(draw: Draw) -> list[Arguments]:
    """More columns than rows, and one row; then equal columns, one that is the sum of two others, constant ones.

    These are many, since torch.linalg.lstsq's default driver misses the rank in some calls and not in others.
    """
    shapes = [(6, 11), (5, 5), (1, 3), (1, 1)] + [(draw.size(12, 40), D) for D in (4, 4, 3, 1) * 4]
    calls = [line(draw, *shape) for shape in shapes]
    for kind, x in enumerate(call["x"] for call in calls[4:]):
        match kind % 4:
            case 0:
                x[:, 2] = x[:, 0]
            case 1:
                x[:, :2] = draw.integers(len(x), 2, low=-4, high=5)  # exact also in float32
                x[:, 2] = x[:, 0] + x[:, 1]
            case 2:
                x[:, 1] = 3
            case _:
                x[:] = 2
    return calls


def nearly_dependent(draw: Draw) -> list[Arguments]:
    """Two columns that differ by 1e-6 of their size: a condition number of some 1e6, whose square is 1e12."""
    calls = [line(draw, draw.size(30, 50), D) for D in (4, 2, 5)]
    for call in calls:
        x, difference = call["x"], draw.normal(len(call["x"]))
        x[:, -1] = x[:, 0] + 1e-6 * difference
        x *= 1e-3  # no singular value is small only because the features are
        call["y"] += 3 * difference  # on which the weights depend: else chance could make them small
    return calls


def any_labels(draw: Draw) -> list[Arguments]:
    return [classes(draw, 30, 2, kind=kind) for kind in ("bool", "uint8", "int8", "float32", "float64")]


# Newton's method, begun at 0 and without step control, goes out and out here, also if each number is some percent off.
RUNAWAYS = (
    ([[-100, -100, 200, -5, -100, 10], [2, -10, -200, -10, -500, 10]], [0, 0, 1, 0, 0, 1]),
    ([[-100, -500, 5, -1, -2, 200], [-100, -5, 2, -1, 500, -10]], [0, 0, 1, 0, 1, 1]),
    ([[-100, -100, 10, 500, -2, -200], [-10, 200, 2, 20, -2, 2]], [0, 1, 1, 1, 0, 0]),
)


def outliers(draw: Draw) -> list[Arguments]:
    return [
        {"x": torch.tensor(x).double().T * draw.normal(6, 2, std=0.01, mean=1), "y": torch.tensor(y), "l2": 0.1}
        for x, y in RUNAWAYS
    ]


def a_far_row(draw: Draw) -> Arguments:
    """Where the others put its logit at 30 or more, the other class's probability is below 1e-12."""
    x = torch.cat([draw.normal(1500, 1), draw.uniform(1, 1, low=18, high=22)])
    y = (x[:, 0] + draw.normal(1501, std=0.3) > 0).long()
    y[-1] = 0
    return {"x": x, "y": y, "l2": 0.1}


def refused(name: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]], binary: bool = False, **more: Any) -> Case:
    def inputs(draw: Draw) -> list[Arguments]:
        def targets(*shape: int) -> Tensor:
            return torch.arange(max(shape)).remainder(2).reshape(shape) if binary else draw.normal(*shape)

        return [{"x": draw.normal(*x), "y": targets(*y), **more} for x, y in shapes]

    return Case(name, inputs, raises=ValueError)


def labelled(name: str, *labels: list[float]) -> Case:
    return Case(
        name, lambda draw: [{"x": draw.normal(len(y), 3), "y": torch.tensor(y)} for y in labels], raises=ValueError
    )


SHAPES = (((8, 3), (9,)), ((8, 3), (8, 1)), ((8, 3), (1,)), ((8,), (8,)), ((8, 3, 2), (8,)))
robust = partial(Case, category="robustness")

GRADER = Grader(
    answers=(
        Answer(
            "linear_regression(x, y, l2=0.0)",
            oracle=least_squares,
            half=False,
            tolerance=DIGITS,
            cases=(
                Case("forty_rows", lambda draw: line(draw, 40, 3)),
                # In float32 the inverse of xᵀx would lose digits here, and the mathematics is right.
                Case("every_size", each(line, (25, 1, {}), (7, 5, {}), (2, 1, {}), (60, 8, {})), dtypes=ALONE),
                Case("drawn_sizes", drawn(line), sizes={"N": (12, 70), "D": (2, 9)}, dtypes=ALONE),
                Case("ridge", each(line, (30, 4, {"l2": 0.5}), (50, 2, {"l2": 20.0}), (25, 1, {"l2": 2.0}))),
                Case("ridge_of_few_rows", each(line, (8, 12, {"l2": 3.0}), (1, 4, {"l2": 0.5})), dtypes=ALONE),
                refused("shapes_differ", *SHAPES),
                refused("negative_l2", ((8, 3), (8,)), l2=-0.5),
            ),
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (256, 4096)},
                    inputs=lambda draw, rows: line(draw, rows, 8),
                    operators=1000,  # whatever the method
                    written=100,
                    hints={"rows": VECTORS},
                ),
                Budget(
                    "many_rows_penalised",
                    sizes={"rows": (256, 4096)},
                    inputs=lambda draw, rows: line(draw, rows, 6, l2=draw.number(0.5, 5)),
                    asks=("memory",),
                    written=100,
                    hints={"rows": "xᵀ(xxᵀ + λI)⁻¹y has an N × N matrix; (xᵀx + λI)⁻¹xᵀy, or svd, has none"},
                ),
            ),
        ),
        Answer(
            "logistic_regression(x, y, l2=1.0)",
            oracle=maximum_likelihood,
            half=False,
            records=True,
            tolerance=ROUGHLY,
            cases=(
                Case("sixty_rows", lambda draw: classes(draw, 60, 3)),
                Case("penalties", each(classes, (40, 1, {"l2": 0.2}), (50, 4, {"l2": 6.0}), (30, 2, {"l2": 0.7}))),
                Case("few_rows", each(classes, (2, 1, {}), (9, 14, {"l2": 0.5}))),
                Case("any_size", drawn(classes), sizes={"N": (12, 70), "D": (2, 9)}),
                robust("any_labels", any_labels, scenario=labels_of_a_kind),
                refused("shapes_disagree", *SHAPES, binary=True),
                refused("no_penalty", ((8, 3), (8,)), binary=True, l2=0.0),
                refused("negative_penalty", ((8, 3), (8,)), binary=True, l2=-1.0),
                labelled("other_labels", [-1, 1, 1, -1], [1, 2, 2, 1], [0, 1, 2, 1], [0.0, 0.5, 1.0]),
                labelled("one_class", [0, 0, 0], [1, 1, 1, 1], [1]),
            ),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (256, 4096)},
                    inputs=lambda draw, samples: classes(draw, samples, 8),
                    operators=1000,  # whatever the method
                    peak=16,  # on a GPU, a solver keeps some megabytes for itself
                    written=1000,
                    hints={"samples": VECTORS},
                ),
            ),
        ),
    ),
)


def shapes(call: Arguments) -> list[Tensor]:
    return [call["x"][0], call["x"].sum()]


def off(given: Arguments, w: Tensor, b: Tensor) -> float:
    """How far the numbers are from those of least norm, as parts of the largest weight and of b."""
    right, bias = least_squares(given["x"].double(), given["y"].double())
    return float((w.double() - right).abs().max() / (right.abs().max() or 1) + (b - bias).abs() / (1 + bias.abs()))


def of_least_norm(given: Arguments, w: Tensor, b: Tensor, digits: float) -> int:
    x, y = given["x"].double(), given["y"].double()
    errors = [
        float((y - x @ one.double() - bias.double()).norm() / y.norm()) for one, bias in ((w, b), least_squares(x, y))
    ]
    if off(given, w, b) < digits:
        return 0
    return 3 if not w.abs().max() < 1e3 else 2 if errors[0] < errors[1] + digits else 1


@pytest.mark.robustness
def test_least_norm(submission: Submission, draw: Draw) -> None:
    said = ("", "a larger error", "another w with the least error", "inverted rounding errors")
    calls = least_norm(draw)
    for dtype, digits in ((torch.float64, 1e-8), (torch.float32, 1e-3)):
        cast = [{name: one.to(dtype) for name, one in call.items()} for call in calls]
        kinds = several.kinds(submission, lines, cast, partial(of_least_norm, digits=digits), shapes, number=len(cast))
        for i, (call, kind) in enumerate(zip(calls, kinds, strict=True)):
            if kind:
                subject = f"fit {i + 1} of {len(calls)}, of x{list(call['x'].shape)} {dtype}"
                raise CheckFailed(f"{subject}: should be the least-squares solution of least norm, got {said[kind]}")


@pytest.mark.robustness
def test_nearly_dependent(submission: Submission, draw: Draw) -> None:
    calls = nearly_dependent(draw)

    def kind(given: Arguments, w: Tensor, b: Tensor) -> int:
        return sum(not off(given, w, b) < most for most in (5e-8, 1e-2))  # the oracle is off by 3e-9

    if any(several.kinds(submission, lines, calls, kind, shapes, number=len(calls))):
        raise CheckFailed("w: should be right to 8 digits where two columns differ by 1e-6, got fewer")


def arrives(submission: Submission, *calls: Arguments, least: float = LEAST) -> None:
    lengths = list[float]()

    def kind(given: Arguments, w: Tensor, b: Tensor) -> int:
        lengths.append(steepness(**{"l2": 1.0, **given}, w=w, b=b))
        return int(not lengths[-1] < least)

    if any(several.kinds(submission, fits, calls, kind, shapes, penalties=[call.get("l2", 1.0) for call in calls])):
        got = next((one for one in lengths if not one < least), math.inf)
        raise CheckFailed(f"‖gradient‖ / (N · max(1, largest |x|)): should be below {least:g}, got {got:.2g}")


def test_the_gradient_vanishes(submission: Submission, draw: Draw) -> None:
    """So many fits that one which stops too soon by little shows it in some."""
    penalties = [draw.number(0.02, 2) for _ in range(24)]
    arrives(submission, *(classes(draw, draw.size(8, 40), draw.size(1, 5), l2=l2) for l2 in penalties))


@pytest.mark.robustness
def test_large_features(submission: Submission, draw: Draw) -> None:
    around_20 = classes(draw, 50, 3, mean=20, l2=0.1)
    around_20["x"][:, 2] = 20
    far = classes(draw, 40, 3, std=1e4, l2=0.01)
    arrives(submission, classes(draw, 50, 3, std=100), around_20, far, least=NEAR)


@pytest.mark.robustness
def test_outliers(submission: Submission, draw: Draw) -> None:
    arrives(submission, *outliers(draw))


@pytest.mark.robustness
def test_separable_classes(submission: Submission, draw: Draw) -> None:
    arrives(submission, *(classes(draw, draw.size(30, 60), D, noise=0, l2=0.01) for D in (1, 2, 4)))


@pytest.mark.robustness
def test_a_far_row_of_the_other_class(submission: Submission, draw: Draw) -> None:
    """Its probability is below 1e-12, and it pulls with all its weight."""
    arrives(submission, a_far_row(draw))
