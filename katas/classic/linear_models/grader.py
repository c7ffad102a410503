"""What is checked of linear_regression and logistic_regression."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, CheckFailed, Draw, Grader, Submission, Tolerance

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
    """The length of the logistic loss's gradient, divided by N and by the largest |x|."""
    errors = torch.sigmoid(x @ w + b) - y
    return float(torch.cat([x.T @ errors + l2 * w, errors.sum()[None]]).norm() / x.abs().max()) / len(x)


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


def fitted(logistic_regression, x, y, l2):
    w, b = logistic_regression(x, y, l2)
    return {"w": w, "b": b}


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


def several(make: Callable[..., Arguments], *sizes: tuple[int, int, dict[str, Any]]) -> Callable[[Draw], Any]:
    return lambda draw: [make(draw, N, D, **more) for N, D, more in sizes]


def least_norm(draw: Draw) -> list[Arguments]:
    """More columns than rows; equal columns, one that is the sum of two others, constant ones; one row."""
    calls = [line(draw, *size) for size in ((6, 11), (5, 5), (30, 4), (25, 4), (20, 3), (8, 1), (1, 3), (1, 1))]
    _, _, equal, summed, constant, still, *_ = (call["x"] for call in calls)
    equal[:, 2] = equal[:, 0]
    summed[:, :2] = draw.integers(25, 2, low=-4, high=5)  # exact also in float32
    summed[:, 2] = summed[:, 0] + summed[:, 1]
    constant[:, 1], still[:] = 3, 2
    return calls


def nearly_dependent(draw: Draw) -> Arguments:
    """Two columns that differ by 1e-6 of their size: a condition number of some 1e6, whose square is 1e12."""
    made = line(draw, 40, 4)
    made["x"][:, 3] = made["x"][:, 0] + 1e-6 * draw.normal(40)
    made["x"] *= 1e-3  # no singular value is small only because the features are
    return made


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
                Case("every_size", several(line, (25, 1, {}), (7, 5, {}), (2, 1, {}), (60, 8, {})), dtypes=ALONE),
                Case("ridge", several(line, (30, 4, {"l2": 0.5}), (50, 2, {"l2": 20.0}), (25, 1, {"l2": 2.0}))),
                Case("ridge_of_few_rows", several(line, (8, 12, {"l2": 3.0}), (1, 4, {"l2": 0.5})), dtypes=ALONE),
                robust("least_norm", least_norm),
                robust(
                    "nearly_dependent",
                    nearly_dependent,
                    dtypes=ALONE,
                    tolerance={torch.float64: Tolerance(0, 1e-8, 1e-8)},
                ),
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
                Case("penalties", several(classes, (40, 1, {"l2": 0.2}), (50, 4, {"l2": 6.0}), (30, 2, {"l2": 0.7}))),
                Case("few_rows", several(classes, (2, 1, {}), (9, 14, {"l2": 0.5}))),
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


def arrives(submission: Submission, *fits: Arguments, least: float = LEAST) -> None:
    """Of two answers that have not arrived, the diagnosis minds only whether they are near or have run away."""
    far = list[float]()
    for given in fits:
        given = {"l2": 1.0, **given}

        def missed(found: dict[str, Any], given: Any = given) -> int:
            length = steepness(**given, **found)
            far.extend([length] * (not length < least))
            return sum(not length < most for most in (least, 1e-2))

        like = {"w": given["x"][0], "b": given["x"].sum()}
        submission.run(fitted, like=like, summary=missed, **given)  # all of them, which tell mistakes apart
    if far:
        raise CheckFailed(f"‖gradient‖ / (N · largest |x|): should be below {least:g}, got {far[0]:.2g}")


def test_the_gradient_vanishes(submission: Submission, draw: Draw) -> None:
    arrives(submission, classes(draw, 50, 3), classes(draw, 40, 2, l2=0.4))


@pytest.mark.robustness
def test_large_features(submission: Submission, draw: Draw) -> None:
    around_20 = classes(draw, 50, 3, mean=20, l2=0.1)
    around_20["x"][:, 2] = 20
    arrives(submission, classes(draw, 50, 3, std=100), around_20, least=NEAR)
    arrives(submission, classes(draw, 40, 3, std=1e4, l2=0.01), least=NEAR)


@pytest.mark.robustness
def test_outliers_and_separable_classes(submission: Submission, draw: Draw) -> None:
    arrives(submission, *outliers(draw), classes(draw, 40, 2, noise=0, l2=0.01))
