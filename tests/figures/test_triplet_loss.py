"""The figures that triplet_loss's texts state."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from graders.kata.spec import Draw
from tests.figures import said

KATA = "triplet_loss"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "triplet_loss_of_the_figures").triplet_loss


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def hardest(distances: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    same = labels[:, None] == labels
    return (
        distances.masked_fill(~same, -torch.inf).argmax(1),
        distances.masked_fill(same, torch.inf).argmin(1),
    )


def test_example_by_hand() -> None:
    assert (math.hypot(3, 4), 5 - 4.5 + 1) == (5, 1.5)
    assert (math.hypot(0, 2), math.hypot(6, 8), 2 - 10 + 1) == (2, 10, -7)
    assert (1.5 + 0) / 2 == 0.75
    assert said(KATA, "5 − 4.5 + 1 = 1.5", "2 − 10 + 1 = −7 is below 0", "(1.5 + 0) / 2 = 0.75")


def test_points_lie_hundreds_of_times_farther_from_the_origin_than_from_one_another() -> None:
    made = FOUND.module.far_from_the_origin(Draw(0))
    distances = torch.linalg.vector_norm(made["anchor"] - made["positive"], dim=1)
    ratios = torch.linalg.vector_norm(made["anchor"], dim=1) / distances
    assert 200 < ratios.min() < ratios.max() < 1000
    assert said(KATA, "the points lie hundreds of times farther from the origin than from one another")


def test_large_distances_are_those_of_the_case() -> None:
    made = FOUND.module.double_precision(Draw(0))[0]
    distances = torch.linalg.vector_norm(made["anchor"] - made["negative"], dim=1)
    assert 1e5 < distances.min() < distances.max() < 4e5
    assert said(KATA, "Distances may be large, such as 100 000")


def test_eps_of_1e_8_under_the_root_is_within_the_tolerance_and_one_of_1e_7_is_not() -> None:
    tolerance = FOUND.module.WITH_EPS_AT_ZERO
    assert math.sqrt(1e-8) <= tolerance.absolute < math.sqrt(1e-7)
    assert math.sqrt(0.02**2 + 1e-6) - math.sqrt(0.005**2 + 1e-6) < 0.015 - FOUND.module.WITH_EPS.absolute
    assert said(KATA, "up to 1e-6 on each difference, or up to 1e-8 under a root", "of close or equal vectors wrong")


@pytest.mark.parametrize("margin", [1.0, 10.0])
def test_plain_root_is_nan_at_0_in_satisfied_triplets_too(margin: float) -> None:
    x, negative = torch.zeros(3, requires_grad=True), torch.full((3,), 4.0)
    loss = torch.relu(x.square().sum().sqrt() - (x - negative).square().sum().sqrt() + margin)
    assert (loss > 0) == (margin > 7)
    assert torch.autograd.grad(loss, x)[0].isnan().all()
    assert said(KATA, "0 · ∞ · 0 = NaN", "1 · ∞ · 0, NaN as well")


def test_where_saves_the_gradient_before_the_root_alone() -> None:
    x = torch.zeros(3, requires_grad=True)
    square = x.square().sum()
    after = torch.where(square > 0, square.sqrt(), 0.0)
    before = torch.where(square > 0, torch.where(square > 0, square, 1.0).sqrt(), 0.0)
    under = (square + 1e-8).sqrt()
    assert torch.autograd.grad(after, x, retain_graph=True)[0].isnan().all()
    assert all((torch.autograd.grad(one, x, retain_graph=True)[0] == 0).all() for one in (before, under))
    assert said(KATA, "or a `where` on the *input* of the root", "A `where` on its output does not")


def test_collapsed_embeddings_have_the_margin_for_a_loss_and_no_slope_of_their_squares() -> None:
    points = torch.ones(4, 5, requires_grad=True)
    assert (REFERENCE(points, points, points, margin=0.7, reduction="none") == 0.7).all()
    squares = (points - points.detach()).square().sum(1)
    assert (torch.autograd.grad(squares.sum(), points)[0] == 0).all()
    assert said(KATA, "Every loss is exactly the margin")


def test_cosine_distance_of_equal_vectors_has_the_gradient_0() -> None:
    x = normal(4, 5)
    anchor, positive = x.clone().requires_grad_(), x.clone().requires_grad_()
    loss = REFERENCE(anchor, positive, -x, margin=5.0, distance="cosine")  # the negative's gradient is 0 as well
    assert all(one.abs().max() < 1e-12 for one in torch.autograd.grad(loss, [anchor, positive]))
    assert said(KATA, "The cosine distance of two equal vectors has a gradient, 0")


def test_triplets_of_a_batch_and_their_table() -> None:
    n = 18 * 4
    assert n * (4 - 1) * (n - 4) == 14_688
    assert f"{4 * 1024**3 / 1e9:.1f}" == "4.3"
    assert said(KATA, "14 688 triplets for P = 18 and K = 4", "4.3 GB in float32 for n = 1 024")


def test_masks_find_the_hardest_triplets() -> None:
    points, labels = normal(12, 5), torch.arange(12) % 4
    distances = torch.cdist(points, points)
    positives, negatives = hardest(distances, labels)
    for i in range(12):
        near = [(distances[i, j].item(), j) for j in range(12) if labels[i] == labels[j]]
        far = [(distances[i, j].item(), j) for j in range(12) if labels[i] != labels[j]]
        assert [int(positives[i]), int(negatives[i])] == [max(near)[1], min(far)[1]]
    alone = torch.arange(12)
    assert hardest(distances, alone)[0].tolist() == alone.tolist()
    assert said(KATA, "`same = labels[:, None] == labels`", "fill the rest with −∞ or +∞ first")


def test_cosine_distance_is_half_the_squared_one_of_unit_vectors() -> None:
    a, b = F.normalize(normal(2, 5, 7), dim=2).unbind()
    torch.testing.assert_close((a - b).square().sum(1), 2 - 2 * (a * b).sum(1))
    for cosine, loss in ((0.1, 0.1), (0.0, 0.0), (-0.5, 0.0)):
        assert max(0, 0 - (1 - cosine) + 1) == pytest.approx(loss)
    assert said(KATA, "the negative has to be at a right angle to it or beyond")


def test_expanded_square_loses_every_digit_in_float32() -> None:
    a, b = (normal(2, 200, 7) * 0.01 + 1000).float().unbind()
    squares = a.square().sum(1) + b.square().sum(1) - 2 * (a * b).sum(1)
    right = (a.double() - b.double()).square().sum(1)
    assert squares.min() < 0
    assert ((squares - right).abs() > right).float().mean() > 0.3
    torch.testing.assert_close((a - b).square().sum(1).double(), right, rtol=1e-5, atol=0)
    assert said(KATA, "every digit of the distance can be wrong, and the square even negative")


def test_growing_satisfies_a_margin_that_unit_vectors_may_not_meet() -> None:
    losses = [max(0, scale * 1 - scale * 1.1 + 1) for scale in (1, 10)]
    assert losses == pytest.approx([0.9, 0])
    furthest = torch.linalg.vector_norm(torch.tensor([1.0, 0.0]) - torch.tensor([-1.0, 0.0]))
    assert furthest == 2
    assert said(KATA, "distances of 1 and 1.1 have a loss of 0.9 at margin 1", "at 10 and 11, the triplet is satisfied")
    assert said(KATA, "Between unit vectors a distance is at most 2")


def test_loss_on_pairs_still_asks_something_of_the_positive() -> None:
    pairs: Callable[[float, float], float] = lambda d, y: y * d**2 + (1 - y) * max(0, 1 - d) ** 2  # noqa: E731
    assert (pairs(0.5, 1), pairs(2, 0)) == (0.25, 0)
    assert max(0, 0.5 - 2 + 1) == 0
    assert said(KATA, "with the positive at 0.5, the negative at 2 and a margin of 1 it is 0", "still asks 0.25")


def test_bytes_of_class_vectors_and_of_a_table_of_distances() -> None:
    assert f"{1_000_000 * 512 * 4 / 1e9:.2f}" == "2.05"
    assert said(KATA, "2.05 GB in float32 for a million people at 512 dimensions")
    assert (8 * 256, f"{256 * 8 * 256 * 4 / 1e6:.1f}") == (2048, "2.1")
    assert said(KATA, "8 GPUs of 256 samples need a 256 × 2 048 table each, 2.1 MB in float32")


def test_recall_by_chance() -> None:
    assert f"{1 - (1 - 1 / 100):.0%} {1 - (1 - 1 / 100) ** 10:.1%}" == "1% 9.6%"
    assert said(KATA, "of 100 equally large classes, about 1 % at k = 1 and 9.6 % at k = 10")


def test_gathering_with_gradient_is_exact_when_each_device_mines_for_its_anchors() -> None:
    inputs, encoder = normal(16, 6), normal(6, 6).requires_grad_()
    labels, own = torch.arange(16) % 4, torch.arange(16).chunk(2)

    def gradient(anchors: Tensor, gathered_with_gradient: bool = True) -> Tensor:
        points = inputs @ encoder
        if not gathered_with_gradient:
            points = torch.where(torch.isin(torch.arange(16), anchors)[:, None], points, points.detach())
        positives, negatives = hardest(torch.cdist(points.detach(), points.detach()), labels)
        loss = REFERENCE(points[anchors], points[positives[anchors]], points[negatives[anchors]], margin=20.0)
        return torch.autograd.grad(loss, encoder)[0]

    right = gradient(torch.arange(16))
    torch.testing.assert_close(torch.stack([gradient(anchors) for anchors in own]).mean(0), right)
    without = torch.stack([gradient(anchors, gathered_with_gradient=False) for anchors in own]).mean(0)
    assert (without - right).norm() > 0.01 * right.norm()
    assert said(KATA, "DDP's mean over GPUs is exactly that of the whole batch")
