"""The figures that triplet_loss's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.kata.draw import Draw
from tests.figures import normal, reference_of, said

KATA = "triplet_loss"
(FOUND,) = katas.find([KATA])
REFERENCE = reference_of(KATA).triplet_loss


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
    assert said(KATA, "DDP's mean over GPUs is the whole batch's mean")


def hardest(distances: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    same = labels[:, None] == labels
    return distances.masked_fill(~same, -torch.inf).argmax(1), distances.masked_fill(same, torch.inf).argmin(1)


def test_distances_are_those_of_the_cases() -> None:
    made = FOUND.module.far_from_the_origin(Draw(0))
    ratios = made["anchor"].norm(dim=1) / (made["anchor"] - made["positive"]).norm(dim=1)
    assert 200 < ratios.min() < ratios.max() < 1000
    assert said(KATA, "the points lie hundreds of times farther from the origin than from one another")
    made = FOUND.module.double_precision(Draw(0))[0]
    distances = (made["anchor"] - made["negative"]).norm(dim=1)
    assert 1e5 < distances.min() < distances.max() < 4e5
    assert said(KATA, "Distances may be large, such as 100 000")


def test_where_saves_the_gradient_before_the_root_alone() -> None:
    x = torch.zeros(3, requires_grad=True)
    square = x.square().sum()
    after = torch.where(square > 0, square.sqrt(), 0.0)
    before = torch.where(square > 0, torch.where(square > 0, square, 1.0).sqrt(), 0.0)
    slopes = [torch.autograd.grad(one, x, retain_graph=True)[0] for one in (after, before, (square + 1e-8).sqrt())]
    assert slopes[0].isnan().all()
    assert not torch.stack(slopes[1:]).any()
    assert said(KATA, "or a `where` on the *input* of the root", "A `where` on its output does not")


def test_collapsed_embeddings_have_the_margin_for_a_loss_and_no_slope_of_their_squares() -> None:
    points = torch.ones(4, 5, requires_grad=True)
    assert (REFERENCE(points, points, points, margin=0.7, reduction="none") == 0.7).all()
    assert not torch.autograd.grad((points - points.detach()).square().sum(), points)[0].any()
    assert said(KATA, "Every loss is exactly the margin")


def test_cosine_distance_of_equal_vectors_has_the_gradient_0() -> None:
    anchor, positive = (normal(4, 5).requires_grad_() for _ in range(2))
    loss = REFERENCE(anchor, positive, -normal(4, 5), margin=5.0, distance="cosine")  # the negative's is 0 as well
    assert all(one.abs().max() < 1e-12 for one in torch.autograd.grad(loss, [anchor, positive]))
    assert said(KATA, "The cosine distance of two equal vectors has the gradient 0")


def test_masks_find_the_hardest_triplets() -> None:
    points, labels = normal(12, 5), torch.arange(12) % 4
    distances = torch.cdist(points, points)
    positives, negatives = hardest(distances, labels)
    for i, row in enumerate(distances.tolist()):
        assert positives[i] == max((j for j in range(12) if labels[i] == labels[j]), key=row.__getitem__)
        assert negatives[i] == min((j for j in range(12) if labels[i] != labels[j]), key=row.__getitem__)
    alone = torch.arange(12)
    assert hardest(distances, alone)[0].tolist() == alone.tolist()
    assert said(KATA, "`same = labels[:, None] == labels`", "fill the rest of the row with −∞, then take the argmax")


def test_cosine_distance_is_half_the_squared_one_of_unit_vectors() -> None:
    a, b = F.normalize(normal(2, 5, 7), dim=2)
    torch.testing.assert_close((a - b).square().sum(1), 2 - 2 * (a * b).sum(1))
    assert [max(0, 0 - (1 - cosine) + 1) for cosine in (0.1, 0.0, -0.5)] == pytest.approx([0.1, 0, 0])
    assert said(
        KATA,
        "the negative has to be at a right angle to the anchor or beyond",
        "the distances are 10 and 11, and the triplet is satisfied",
    )


def test_expanded_square_loses_every_digit_in_float32() -> None:
    a, b = (normal(2, 200, 7) * 0.01 + 1000).float()
    squares = a.square().sum(1) + b.square().sum(1) - 2 * (a * b).sum(1)
    right = (a.double() - b.double()).square().sum(1)
    assert squares.min() < 0
    assert ((squares - right).abs() > right).float().mean() > 0.3
    torch.testing.assert_close((a - b).square().sum(1).double(), right, rtol=1e-5, atol=0)
    assert said(KATA, "every digit of the distance can be wrong, and the square even negative")
