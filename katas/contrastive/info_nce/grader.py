"""What is checked of info_nce."""

import pytest
import torch

from graders.kata import TOLERANCES, Answer, Draw, Grader, Submission, close, two_views

EXACT = TOLERANCES[torch.float64]
GRADER = Grader(
    answers=(
        Answer(
            "info_nce(features, temperature=0.1)",
            oracle=two_views.info_nce,
            differentiable=("features",),
            tolerance=two_views.rounded_at(0.1),
            # Picking from the similarities by boolean masks takes its time, and is welcome.
            budgets=(two_views.budget(asks=("loops", "memory", "time"), time=9),),
            cases=two_views.cases(),
        ),
    ),
)


def test_order_of_the_samples_changes_nothing(submission: Submission, draw: Draw) -> None:
    features, order = two_views.views(draw, 5, 4), draw.permutation(5)
    once = submission.call("info_nce", features=features, temperature=0.3)
    moved = submission.call("info_nce", features=features[torch.cat([order, order + 5])], temperature=0.3)
    close("the loss after permuting the samples", moved, once, EXACT)


def test_order_of_the_views_changes_nothing(submission: Submission, draw: Draw) -> None:
    features = two_views.views(draw, 5, 4)
    once = submission.call("info_nce", features=features, temperature=0.3)
    swapped = submission.call("info_nce", features=features.roll(5, 0), temperature=0.3)
    close("the loss after swapping the halves", swapped, once, EXACT)


def test_rotating_the_features_changes_nothing(submission: Submission, draw: Draw) -> None:
    features, rotation = two_views.views(draw, 5, 4), torch.linalg.qr(draw.normal(4, 4)).Q
    once = submission.call("info_nce", features=features)
    rotated = submission.call("info_nce", features=features @ rotation)
    close("the loss after a rotation", rotated, once, EXACT)


@pytest.mark.robustness
def test_scaling_each_row_changes_nothing(submission: Submission, draw: Draw) -> None:
    features = two_views.views(draw, 5, 4)
    once = submission.call("info_nce", features=features)
    scaled = submission.call("info_nce", features=features * draw.uniform(10, 1, low=1.0, high=1000.0))
    close("the loss after scaling each row", scaled, once, EXACT)


def test_equal_rows_give_log_of_their_number(submission: Submission, draw: Draw) -> None:
    loss = submission.call("info_nce", features=draw.normal(1, 4).expand(12, 4).clone(), temperature=0.2)
    close("the loss of 12 equal rows, log 11", loss, torch.tensor(11.0).double().log(), EXACT)
