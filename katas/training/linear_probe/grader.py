"""What is checked of linear_probe."""

import math

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance

ONE = (torch.float32,)
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SHARE = Tolerance(0, 0, 1e-6)  # a mean in float32 passes, one in half precision does not
LINE, RAY, UNEVEN = [[-4.0], [0.0], [4.0]], [[1.0], [4.0]], [[-2.0], [2.0], [7.0], [12.0]]
SQUARE = [[4.0, 4.0], [-4.0, 4.0], [-4.0, -4.0], [4.0, -4.0]]
TURNED = [[6.0, 0.0], [0.0, 6.0], [-6.0, 0.0], [0.0, -6.0]]  # here the squares of the features tell the classes apart


def nearest_row(
    train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor, epochs: int, lr: float, seed: int
) -> float:
    """What every probe predicts where the classes are far apart, and none has learned a label that is new."""
    predicted = [train_y[torch.cdist(rows, train_x).argmin(1)] for rows in test_x.split(1024)]
    return (torch.cat(predicted) == test_y).double().mean().item()


def circle(draw: Draw, C: int) -> list[list[float]]:
    """C centres on a circle, the first of them anywhere."""
    start = float(draw.uniform())
    angles = [2 * math.pi * (start + c / C) for c in range(C)]
    return [[8 * math.cos(angle), 8 * math.sin(angle)] for angle in angles]


def clusters(
    draw: Draw,
    centres: list[list[float]],
    N: int = 12,
    M: int = 8,
    std: float = 0.2,  # from 0.3 on momentum leaves a row on the wrong side at some seeds
    labels: tuple[int, ...] = (),
    new: tuple[int, ...] = (),
    wrong: int = 0,
    epochs: int = 60,
    lr: float = 0.5,
) -> Arguments:
    """N training and M test rows around each centre, the latter with `new` labels, and up to `wrong` wrong ones."""

    def around(n: int, labels: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        which = torch.arange(len(centres)).repeat(n)[draw.permutation(n * len(centres))]
        x = torch.tensor(centres, dtype=torch.float64)[which]
        return x + draw.normal(*x.shape, std=std), torch.tensor(labels)[which]

    usual = labels or tuple(range(len(centres)))
    (train_x, train_y), (test_x, test_y) = around(N, usual), around(M, new or usual)
    if wrong:  # so that the accuracy is no round number, and another in each draw; in a last, short batch, too
        some = slice(-int(draw.integers(low=wrong // 2, high=wrong)), None)
        test_y[some] = (test_y[some] + 1) % len(centres)
    made = {"train_x": train_x, "train_y": train_y, "test_x": test_x, "test_y": test_y}
    return {**made, "epochs": epochs, "lr": lr, "seed": 7}


def sorted_by_label(draw: Draw) -> Arguments:
    """The first batch of 256 rows has none of the last class."""
    made = clusters(draw, circle(draw, 5), N=64)
    order = made["train_y"].argsort()
    return {**made, "train_x": made["train_x"][order], "train_y": made["train_y"][order]}


def overlapping(draw: Draw, N: int = 30, M: int = 40, **more: float) -> Arguments:
    """Ten classes that nobody can tell apart for sure, so that the accuracy says much about W and b."""
    return clusters(draw, draw.normal(10, 6).tolist(), N, M, std=1.5, **more)


# Scenarios.


def gradients_of_features(linear_probe, train_x, train_y, test_x, test_y, epochs, lr, seed):
    leaf, test = train_x.clone().requires_grad_(), test_x.clone().requires_grad_()
    encoder = torch.eye(train_x.shape[1]).to(train_x).requires_grad_()
    features, rest = train_x @ encoder, (epochs, lr, seed)
    linear_probe(features, train_y, test_x @ encoder, test_y, *rest)
    linear_probe(leaf, train_y, test, test_y, *rest)
    return {
        "gradient of what made the features": encoder.grad,
        "gradient of train_x": leaf.grad,
        "train_x requires gradients": (features.requires_grad, leaf.requires_grad),
        "test_x requires gradients": test.requires_grad,
    }


def other_random_states(linear_probe, train_x, train_y, test_x, test_y, epochs, lr, seed):
    accuracies = []
    for state in (1, 2):
        torch.manual_seed(state)
        accuracies.append(linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed))
    return {"difference of the two accuracies": accuracies[1] - accuracies[0]}


def unsettled(draw: Draw) -> list[Arguments]:
    """Accuracies after one epoch, which depend on where the training began."""
    return [overlapping(draw, epochs=1, lr=0.05) | {"seed": seed} for seed in (7, 0, 0)]


def cost(linear_probe, train_x, train_y, test_x, test_y, epochs, lr, seed):
    return 0 <= linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed) <= 1


def many(draw: Draw, **sizes: int) -> Arguments:
    N, C, M = sizes.values()
    made = {"train_x": draw.normal(N, 16), "train_y": draw.integers(N, high=C)}
    made |= {"test_x": draw.normal(M, 16), "test_y": draw.integers(M, high=C)}
    return {**made, "epochs": 4, "lr": 0.05, "seed": 0}


def bad(name: str, *shapes: tuple[tuple[int, ...], int, tuple[int, ...], int]) -> Case:
    def inputs(draw: Draw) -> list[Arguments]:
        return [
            {"train_x": draw.normal(*train), "train_y": draw.integers(n, high=2)}
            | {"test_x": draw.normal(*test), "test_y": draw.integers(m, high=2), "epochs": 2, "lr": 0.1, "seed": 0}
            for train, n, test, m in shapes
        ]

    return Case(name, inputs, dtypes=ONE, raises=ValueError)


GAPS = (
    {"labels": (1, 4, 6)},
    *({"labels": (1, 4, 6), "new": new} for new in ((1, 4, 9), (0, 3, 5))),
    {"labels": (2, 0, 7), "new": (2, 2, 7)},
)
SHIFTED = ((1, 2, 3, 0), (1, 2, 0))  # two alone leave a feature of noise, which standardising makes large
GRADER = Grader(
    answers=(
        Answer(
            "linear_probe(train_x, train_y, test_x, test_y, epochs, lr, seed)",
            oracle=nearest_row,
            records=True,
            returns=FLOATS,
            tolerance=dict.fromkeys(FLOATS, SHARE),
            cases=(
                Case(
                    "five_clusters",
                    lambda draw: clusters(draw, circle(draw, 5), wrong=25),
                ),
                Case(
                    "small_rate",
                    lambda draw: clusters(draw, circle(draw, 5), wrong=25, epochs=200, lr=0.05),
                    dtypes=ONE,
                ),
                Case(
                    "test_labels_shifted",
                    lambda draw: [clusters(draw, circle(draw, len(new)), M=36, new=new) for new in SHIFTED],
                    dtypes=ONE,
                ),
                Case(
                    "on_a_line",
                    lambda draw: [
                        clusters(draw, LINE, std=0.1, labels=(0, 2, 1), epochs=120, lr=0.2),
                        clusters(draw, RAY, std=0.1),
                        clusters(draw, UNEVEN, std=0.2, labels=(0, 1, 1, 1), epochs=180, lr=0.2),
                        clusters(
                            draw, [[-2.0], [-2.0], [2.0], [12.0]], std=0.2, labels=(0, 0, 1, 1), epochs=180, lr=0.2
                        ),
                    ],
                    dtypes=ONE,
                ),
                Case(
                    "labels_with_gaps",
                    lambda draw: [clusters(draw, circle(draw, 3), **gaps) for gaps in GAPS],
                    dtypes=ONE,
                ),
                Case(
                    "more_than_a_batch",
                    lambda draw: clusters(draw, circle(draw, 4), N=160, M=151, wrong=120),
                    dtypes=ONE,
                    tolerance=dict.fromkeys(ONE, Tolerance(0, 0, 0.004)),  # two of 604 may lie near a boundary
                ),
                Case("sorted_by_label", sorted_by_label, dtypes=ONE),
                Case(
                    "few_rows",
                    lambda draw: [
                        clusters(draw, circle(draw, 3), N=2, M=1),
                        clusters(draw, circle(draw, draw.size(2, 5)), N=draw.size(9, 16), M=draw.size(4, 12)),
                        clusters(draw, circle(draw, 1), M=1, labels=(2,)),
                        clusters(draw, circle(draw, 1), M=3, labels=(2,), new=(1,)),
                    ],
                    dtypes=ONE,
                ),
                Case(
                    "large_features",
                    lambda draw: clusters(draw, (300 * draw.normal(4, 128).sign()).tolist(), std=1.0, lr=0.05),
                    dtypes=FLOATS[1:],
                    category="robustness",
                ),
                *(
                    Case(scenario.__name__, inputs, scenario=scenario, dtypes=ONE, category="robustness")
                    for scenario, inputs in (
                        (gradients_of_features, lambda draw: clusters(draw, circle(draw, 3), epochs=5)),
                        (other_random_states, unsettled),
                    )
                ),
                bad(
                    "other_lengths",
                    *[((6, 3), n, (5, 3), m) for n, m in ((5, 5), (7, 5), (6, 4), (6, 6), (1, 5), (6, 1))],
                ),
                bad("other_widths", *[((6, d), 6, (5, e), 5) for d, e in ((3, 4), (4, 3), (3, 1), (1, 3))]),
                bad(
                    "not_two_axes",
                    *[((6,), 6, (5, 3), 5), ((6, 3), 6, (5,), 5), ((6,), 6, (6,), 6), ((6, 3, 2), 6, (5, 3), 5)],
                    *[((6, 3), 6, (5, 3, 2), 5), ((6, 3, 2), 6, (5, 3, 2), 5), ((6, 2, 3), 6, (5, 3), 5)],
                    *[((6, 3), 6, (5, 2, 3), 5), ((6, 2, 3), 6, (5, 2, 3), 5), ((3,), 3, (5, 3), 5)],
                ),
            ),
            budgets=(
                Budget(
                    "many_rows",
                    {"rows": (256, 2048), "classes": (32, 256), "tests": (1024, 8192)},
                    many,
                    scenario=cost,
                    operators=4000,  # a DataLoader takes the rows one by one
                    written=100,  # L-BFGS asks for the loss up to 25 times in an epoch
                    hints={
                        "rows": "take all rows at once, or 256 or more",
                        "tests": "compare (M,) with (M,)",
                    },
                ),
            ),
        ),
    ),
)


def test_xor_stays_hard(submission: Submission, draw: Draw) -> None:
    """The square may lie in a plane of a 100-D space, or be turned so that x² and y² tell the classes apart."""
    for N, corners, D in ((10, SQUARE, 2), (20, SQUARE, 100), (20, TURNED, 2)):
        asked = clusters(draw, corners, N=N, M=20, std=0.5, labels=(0, 1, 0, 1), epochs=150)
        if D > 2:
            plane = torch.linalg.qr(draw.normal(D, 2)).Q.mT
            asked |= {name: asked[name] @ plane for name in ("train_x", "test_x")}
        accuracy = submission.call("linear_probe", **asked)
        assert accuracy <= 0.8, (
            f"the accuracy on XOR: should be at most 0.8, got {accuracy:.4g}: no affine map has more"
        )


def test_parts_of_the_test_set_add_up(submission: Submission, draw: Draw) -> None:
    asked = overlapping(draw, N=10, epochs=60)
    by_label, M = asked["test_y"].argsort(), len(asked["test_y"])
    asked["test_x"][by_label[0]] *= 1e4  # far from all others
    right = []
    for part in (torch.arange(M), *by_label.split([80, 120, 199, 1])):
        part_of_it = {**asked, "test_x": asked["test_x"][part], "test_y": asked["test_y"][part]}
        right.append(submission.call("linear_probe", **part_of_it) * len(part))
    whole, parts = right[0], sum(right[1:])
    assert abs(whole - parts) < 1e-2, (
        f"right predictions in four parts of the test set, added up: should be {whole:g} as in the whole, got {parts:g}"
    )


def test_labels_of_one_test_row(submission: Submission, draw: Draw) -> None:
    """A row between ten classes, whose prediction moves from one to the other while the map is trained.

    Adam moves it most at a small rate, and plain gradient descent at a large one.
    """
    for lr in (0.05, 0.5):
        asked = overlapping(draw, N=10, M=1, epochs=20, lr=lr)
        asked |= {"test_x": asked["test_x"][:1] / 4}
        right = sum(submission.call("linear_probe", **asked | {"test_y": torch.tensor([label])}) for label in range(10))
        subject = "the sum of the accuracies of one test row, given with each of ten labels in turn"
        assert right == 1, f"{subject}: should be 1, got {right:g}"


def hard(draw: Draw, D: int, std: float, M: int) -> Arguments:
    """Ten classes that no probe tells apart soon, with 256 training rows, which are one batch."""
    made = clusters(draw, draw.normal(10, D).tolist(), N=26, M=M, std=std)
    return made | {"train_x": made["train_x"][:256], "train_y": made["train_y"][:256]}


def test_epochs_and_rate_count(submission: Submission, draw: Draw) -> None:
    """Every optimiser is still on its way, and further on it puts some of the 3000 test rows elsewhere.

    The line search of L-BFGS finds one place from any rate in the first few steps, or in the last.
    """
    asked = hard(draw, D=30, std=3.0, M=300)

    def accuracies(*several: dict[str, float]) -> set[float]:
        return {submission.call("linear_probe", **asked | one) for one in several}

    found = accuracies(*({"epochs": epochs, "lr": 0.1} for epochs in (1, 8, 40)))
    assert len(found) > 1, f"the accuracies after 1, 8 and 40 epochs: should differ, got {found.pop():.4g} for all"
    by_rate = [accuracies(*({"epochs": epochs, "lr": lr} for lr in (0.003, 0.1, 1.0))) for epochs in (2, 5)]
    message = f"the accuracies for lr = 0.003, 0.1 and 1: should differ, got {next(iter(by_rate[0])):.4g} for all"
    assert max(map(len, by_rate)) > 1, message


def test_order_of_256_rows_changes_nothing(submission: Submission, draw: Draw) -> None:
    """Batches of 128 differ by 0.0045 or more, and one of 256 by 0.001 at most: L-BFGS makes much of rounding."""
    asked = hard(draw, D=6, std=1.5, M=400) | {"epochs": 2, "lr": 1.0}
    orders = [draw.permutation(256) for _ in range(8)]
    found = [
        submission.call("linear_probe", **asked | {name: asked[name][order] for name in ("train_x", "train_y")})
        for order in orders
    ]
    least, most = min(found), max(found)
    message = f"the accuracy for 256 training rows in 8 orders: should be the same, got {least:.4g} to {most:.4g}"
    assert most - least < 0.002, f"{message}: one batch takes all 256"
