"""The figures that linear_probe's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.figures import normal, reference_of, said

KATA = "linear_probe"
REFERENCE = reference_of(KATA)


def test_any_labels_of_a_few_points_are_separated() -> None:
    x, y = normal(20, 19), torch.arange(20) % 3
    assert REFERENCE.linear_probe(x, y, x, y, 2000, 0.5, 0) == 1
    design = torch.cat([x, torch.ones(20, 1).double()], 1)
    assert torch.linalg.matrix_rank(design) == 20  # so that any logits are reached
    assert said(KATA, "N is at most D + 1")


def test_corners_of_a_square() -> None:
    a, b, c, d = corners = torch.tensor([[1.0, 1], [-1, 1], [-1, -1], [1, -1]])
    assert torch.equal(a + c, b + d)
    inputs, labels = corners.repeat(5, 1), torch.tensor([0, 1, 0, 1]).repeat(5)
    assert REFERENCE.linear_probe(inputs, labels, inputs, labels, 300, 0.5, 0) <= 0.75
    three = corners @ torch.tensor([1.0, 1.0]) > 1  # a alone
    assert (three == torch.tensor([True, False, True, False])).float().mean() == 0.75
    assert said(KATA, "an accuracy of 0.75", "f(a) + f(c) = f(b) + f(d)")


def test_least_squares_hide_the_middle_class() -> None:
    x, y = torch.tensor([[-4.0], [0.0], [4.0]]).double(), torch.tensor([0, 1, 2])
    design = torch.cat([x, torch.ones(3, 1).double()], 1)
    fit = torch.linalg.lstsq(design, F.one_hot(y).double()).solution
    torch.testing.assert_close(fit[:, 1], torch.tensor([0, 1 / 3]).double())
    line = torch.cat([torch.linspace(-6, 6, 101)[:, None], torch.ones(101, 1)], 1).double() @ fit
    assert (line[:, 1] <= line.amax(1) + 1e-9).all()
    assert (line.argmax(1) == 1).sum() <= 1  # where all three meet
    assert REFERENCE.linear_probe(x, y, x, y, 200, 0.2, 0) == 1
    assert said(
        KATA, "with three clusters of equal size at −4, 0 and 4, the best affine fit to the middle class is constant"
    )


def test_example_by_hand() -> None:
    x, y = torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]), torch.tensor([0, 0, 1, 1])
    slopes = torch.func.grad(lambda wb: F.cross_entropy(F.linear(x, wb[:, :1], wb[:, 1]), y))(torch.zeros(2, 2))
    assert slopes.tolist() == [[0.75, 0], [-0.75, 0]]
    assert said(KATA, "½ · (−2), ½ · (−1), −½ · 1 and −½ · 2")


def test_scale_of_features() -> None:
    x, y, w, moved = normal(8, 3), torch.arange(8) % 2, normal(2, 3), []
    for scale in (1.0, 0.1):  # features 10 times smaller, weights 10 times larger: the logits are the same
        v = (w / scale).requires_grad_()
        moved.append(F.linear(scale * x, torch.autograd.grad(F.cross_entropy(F.linear(scale * x, v), y), v)[0]))
    torch.testing.assert_close(moved[0], 100 * moved[1])


def test_weights_grow_like_a_logarithm() -> None:
    w, sizes = 0.0, []
    for _ in range(10_000):
        w += 0.5 / (1 + math.exp(2 * w))  # x = ±1 for the two classes
        sizes.append(w)
    steps = [sizes[999] - sizes[99], sizes[9999] - sizes[999]]  # of ten times as many updates each
    assert steps == pytest.approx([math.log(10) / 2] * 2, abs=0.05)
    assert said(KATA, "only like the logarithm of the number of steps")


def test_attribute_that_freezes_nothing_and_digits_of_bfloat16() -> None:
    encoder = nn.Linear(2, 2)
    encoder.requires_grad = False  # type: ignore[assignment]
    assert all(p.requires_grad for p in encoder.parameters())
    assert not any(p.requires_grad for p in encoder.requires_grad_(False).parameters())
    assert torch.tensor([1.0] * 9 + [0.0], dtype=torch.bfloat16).mean().item() == 0.8984375
    assert said(KATA, "in bfloat16 has three digits at most")
