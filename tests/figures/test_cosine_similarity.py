"""The figures that cosine_similarity's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "cosine_similarity"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "cosine_similarity_of_the_figures").cosine_similarity


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


def test_example_by_hand() -> None:
    assert (3 * 4 + 4 * 3, math.hypot(3, 4) * math.hypot(4, 3)) == (24, 25)
    assert (0 * 4 + 2 * 3, 2 * math.hypot(4, 3)) == (6, 10)
    assert said(KATA, "(3·4 + 4·3) / (5 · 5) = 24/25", "(2·3) / (2 · 5) = 6/10")


def test_axis_of_one_counts_as_often_as_it_is_repeated() -> None:
    x, y = normal(3, 1), normal(3, 5)
    assert (x + y).shape == (3, 5)
    torch.testing.assert_close(REFERENCE(x, y), F.cosine_similarity(x.expand(3, 5), y))
    assert said(KATA, "as (3, 1) and (3, 5) do: the vectors are those after broadcasting, here of 5 numbers each")


def test_squares_of_a_vector_of_norm_256_overflow_float16() -> None:
    for norm, overflows in ((255.0, False), (256.0, True)):
        x = torch.tensor([norm, 0.0], dtype=torch.float16)
        assert bool((x * x).sum().isinf()) == overflows
    assert said(KATA, "float16 the sum of squares overflows above 65 504, that is from a norm of 256 on")
    assert said(KATA, "overflows float16 from a norm of 256 on", "two parallel vectors of norm 256 overflow float16")


def test_products_of_short_vectors_vanish_in_float16() -> None:
    x = torch.tensor([1e-4, 0.0], dtype=torch.float16)
    assert x[0] > 0
    assert (x * x).sum() == 0
    assert said(KATA, "two of norm 1e-4 underflow to 0")


def test_eps_beside_a_product_of_its_own_size_halves_the_similarity() -> None:
    assert 1e-4 * 1e-4 / (1e-4 * 1e-4 + 1e-8) == 0.5
    assert said(KATA, "as large as the product itself for two vectors of norm 1e-4: there it halves the similarity")


def test_gradient_is_the_part_of_the_other_that_is_orthogonal() -> None:
    x, y = normal(2, 7, dtype=torch.float64).requires_grad_().unbind()
    cosine = REFERENCE(x, y)
    unit_x, unit_y = F.normalize(x, dim=0), F.normalize(y, dim=0)
    (gradient,) = torch.autograd.grad(cosine, x)
    torch.testing.assert_close(gradient, (unit_y - cosine * unit_x) / x.norm())
    assert abs(gradient @ x) < 1e-12
    assert said(KATA, "(ŷ − cos(x, y) · x̂) / ‖x‖")


def test_a_fifth_of_the_cosines_of_a_vector_with_itself_exceed_1() -> None:
    x = normal(100_000, 64)
    cosines = REFERENCE(x, x)
    assert f"{(cosines > 1).float().mean():.1f} {cosines.max():.7f}" == "0.2 1.0000004"
    assert said(KATA, "of 100 000 random float32 vectors", "about a fifth came out above 1, up to 1.0000004")


def test_small_angles_are_lost_in_a_cosine_but_not_in_the_difference() -> None:
    angle = 1e-4
    assert f"{1 - math.cos(angle):.0e}" == "5e-09"
    x, y = torch.tensor([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
    assert x @ y == 1.0
    assert 2 * torch.asin((x - y).norm() / 2) == pytest.approx(angle)
    assert said(KATA, "at 1e-4 the cosine is 1 − 5e-9", "half its square, and the angle is 2 · asin(‖x̂ − ŷ‖ / 2)")


def test_correlation_is_the_cosine_of_centred_vectors() -> None:
    x, y = normal(2, 9, dtype=torch.float64).unbind()
    torch.testing.assert_close(REFERENCE(x - x.mean(), y - y.mean()), torch.corrcoef(torch.stack([x, y]))[0, 1])


def test_three_measures_prefer_three_vectors() -> None:
    query, stored = torch.tensor([1.0, 0.0]), torch.tensor([[3.0, 3.0], [0.2, 0.0], [1.0, 0.5]])
    assert (stored @ query).argmax() == 0
    assert REFERENCE(stored, query).argmax() == 1
    assert torch.linalg.vector_norm(stored - query, dim=1).argmin() == 2
    assert said(KATA, "For q = (1, 0) and the stored vectors (3, 3), (0.2, 0) and (1, 0.5)")
    stored, query = 3 * F.normalize(normal(50, 8), dim=1), 7 * normal(8)
    distances = torch.linalg.vector_norm(stored - query, dim=1)
    assert distances.argsort().tolist() == (stored @ query).argsort(descending=True).tolist()


def test_one_more_coordinate_makes_dot_products_of_distances() -> None:
    stored, query = normal(50, 8, dtype=torch.float64) * torch.linspace(1, 5, 50)[:, None], torch.ones(8).double()
    norms = torch.linalg.vector_norm(stored, dim=1)
    appended = torch.cat([stored, (norms.max() ** 2 - norms**2).sqrt()[:, None]], 1)
    squares = (appended - F.pad(query, (0, 1))).square().sum(1)
    torch.testing.assert_close(squares, query @ query + norms.max() ** 2 - 2 * stored @ query)
    assert said(KATA, "√(M² − ‖x‖²)", "‖q − x‖² = ‖q‖² + M² − 2⟨q, x⟩")


def test_bytes_of_a_hundred_million_embeddings() -> None:
    numbers = 100_000_000 * 768
    assert (round(4 * numbers / 1e9), round(numbers / 1e9)) == (307, 77)
    assert said(KATA, "At 768 dimensions the vectors take 307 GB in float32 and 77 GB in int8")


def test_cosines_of_int8_are_off_by_less_than_two_thousandths() -> None:
    x, y = normal(2, 4096, 768).unbind()
    rounded = [(z / (z.abs().amax(1, keepdim=True) / 127)).round() for z in (x, y)]
    moved = (REFERENCE(x.double(), y.double()) - REFERENCE(*(z.double() for z in rounded))).abs().max()
    assert 0.001 < moved < 0.002
    assert torch.iinfo(torch.int16).max < 768 * 127**2
    assert f"{768 * 127**2 / 1e6:.1f}" == "12.4"
    assert said(KATA, "12.4 million", "Of 4 096 random pairs of 768 dimensions no cosine moved by more than 0.002")


def test_common_part_is_the_mean_of_all_cosines() -> None:
    x = normal(400, 64, dtype=torch.float64) + 2
    unit = F.normalize(x, dim=1)
    torch.testing.assert_close((unit @ unit.mT).mean(), unit.mean(0).square().sum())
    assert f"{(unit @ unit.mT).mean():.1f}" == "0.8"
    centred = F.normalize(x - x.mean(0), dim=1)
    assert abs((centred @ centred.mT).mean()) < 0.01
    assert said(KATA, "the square of its length is the mean cosine over all pairs, each vector with itself included")
