"""The figures that cosine_similarity's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import normal, reference_of, said

KATA = "cosine_similarity"
REFERENCE = reference_of(KATA).cosine_similarity


def test_axis_of_one_counts_as_often_as_it_is_repeated() -> None:
    x, y = normal(3, 1), normal(3, 5)
    torch.testing.assert_close(REFERENCE(x, y), F.cosine_similarity(x.expand(3, 5), y))
    assert said(KATA, "as (3, 1) and (3, 5) do: the vectors are those after broadcasting")


def test_gradient_is_the_part_of_the_other_that_is_orthogonal() -> None:
    x, y = normal(2, 7).requires_grad_().unbind()
    cosine = REFERENCE(x, y)
    (gradient,) = torch.autograd.grad(cosine, x)
    torch.testing.assert_close(gradient, (y / y.norm() - cosine * x / x.norm()) / x.norm())
    assert abs(gradient @ x) < 1e-12
    assert said(KATA, "(ŷ − cos(x, y) · x̂) / ‖x‖")


def test_a_fifth_of_the_cosines_of_a_vector_with_itself_exceed_1() -> None:
    x = torch.randn(100_000, 64, generator=torch.Generator().manual_seed(0))
    cosines = REFERENCE(x, x)
    assert f"{(cosines > 1).float().mean():.1f} {cosines.max():.7f}" == "0.2 1.0000004"
    assert said(KATA, "of 100 000 random float32 vectors", "about a fifth came out above 1, up to 1.0000004")


def test_small_angles_are_lost_in_a_cosine_but_not_in_the_difference() -> None:
    x, y = torch.tensor([[1.0, 0.0], [math.cos(1e-4), math.sin(1e-4)]])
    assert x @ y == 1.0
    assert 2 * torch.asin((x - y).norm() / 2) == pytest.approx(1e-4)
    assert said(KATA, "Half of its square is 1 − cos, and the angle is 2 · asin(‖x̂ − ŷ‖ / 2)")


def test_correlation_is_the_cosine_of_centred_vectors() -> None:
    x, y = normal(2, 9).unbind()
    torch.testing.assert_close(REFERENCE(x - x.mean(), y - y.mean()), torch.corrcoef(torch.stack([x, y]))[0, 1])


def test_three_measures_prefer_three_vectors() -> None:
    query, stored = torch.tensor([1.0, 0.0]), torch.tensor([[3.0, 3.0], [0.2, 0.0], [1.0, 0.5]])
    near = -torch.linalg.vector_norm(stored - query, dim=1)
    assert [one.argmax().item() for one in (stored @ query, REFERENCE(stored, query), near)] == [0, 1, 2]
    assert said(KATA, "For q = (1, 0) and the stored vectors (3, 3), (0.2, 0) and (1, 0.5)")
    stored, query = 3 * F.normalize(normal(50, 8), dim=1), 7 * normal(8)
    distances = torch.linalg.vector_norm(stored - query, dim=1)
    assert distances.argsort().tolist() == (stored @ query).argsort(descending=True).tolist()


def test_one_more_coordinate_makes_dot_products_of_distances() -> None:
    stored, query = normal(50, 8) * torch.linspace(1, 5, 50)[:, None], torch.ones(8).double()
    norms = torch.linalg.vector_norm(stored, dim=1)
    appended = torch.cat([stored, (norms.max() ** 2 - norms**2).sqrt()[:, None]], 1)
    squares = (appended - F.pad(query, (0, 1))).square().sum(1)
    torch.testing.assert_close(squares, query @ query + norms.max() ** 2 - 2 * stored @ query)
    assert said(KATA, "√(M² − ‖x‖²)", "‖q − x‖² = ‖q‖² + M² − 2⟨q, x⟩")


def test_cosines_of_int8_are_off_by_less_than_two_thousandths() -> None:
    x, y = normal(2, 4096, 768)
    rounded = ((z / (z.abs().amax(1, keepdim=True) / 127)).round() for z in (x, y))
    assert 0.001 < (REFERENCE(x, y) - REFERENCE(*rounded)).abs().max() < 0.002
    assert torch.iinfo(torch.int16).max < 768 * 127**2
    assert said(KATA, "Of 4 096 random pairs of 768 dimensions no cosine moved by more than 0.002")


def test_common_part_is_the_mean_of_all_cosines() -> None:
    x = normal(400, 64) + 2
    unit, centred = F.normalize(x, dim=1), F.normalize(x - x.mean(0), dim=1)
    torch.testing.assert_close((unit @ unit.mT).mean(), unit.mean(0).square().sum())
    assert f"{(unit @ unit.mT).mean():.1f}" == "0.8"
    assert abs((centred @ centred.mT).mean()) < 0.01
    assert said(KATA, "the square of its length is the mean cosine over all pairs, each vector with itself included")
