"""The figures that mutual_information's texts state."""

from __future__ import annotations

import math

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "mutual_information"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "mutual_information_of_the_figures")


def bits(table: list[list[float]], total: float = 1.0) -> tuple[float, float]:
    """I(x; y) and H(x | y)."""
    joint = torch.tensor(table, dtype=torch.float64) / total
    return float(REFERENCE.mutual_information(joint, 2)), float(REFERENCE.conditional_entropy(joint, "y", 2))


def test_example_by_hand() -> None:
    parts = [-math.log2(p) for p in (0.7, 0.3)]
    assert [f"{part:.4f}" for part in parts] == ["0.5146", "1.7370"]
    before, umbrella = 0.7 * parts[0] + 0.3 * parts[1], -0.4 * math.log2(0.4) - 0.6 * math.log2(0.6)
    rounded = [f"{one:.4f}" for one in (before, umbrella, umbrella / 2, before - umbrella / 2)]
    assert rounded == ["0.8813", "0.9710", "0.4855", "0.3958"]
    information, rest = bits([[0.2, 0.5], [0.3, 0.0]])
    assert abs(information - before + rest) < 1e-12
    assert said(
        KATA, "0.3 · 1.7370 = 0.8813 bits", "0.5 · 0.9710 + 0.5 · 0 = 0.4855 bits", "0.8813 − 0.4855 = 0.3958 bits"
    )


def test_small_numbers() -> None:
    assert [f"{-math.log(p):.1f}" for p in (1e-8, 1e-30, 1e-60)] == ["18.4", "69.1", "138.2"]
    assert torch.tensor(1e-30).square() == 0 < torch.tensor(1.4e-45)
    assert said(KATA, "1e-8 inside the logarithm makes 18.4 of −log 1e-30, which is 69.1", "logarithms is −138.2")


def test_dependence_without_correlation() -> None:
    square, _ = bits([[0, 1], [1, 0], [0, 1]], 3)
    assert (f"{square:.3f}", f"{-math.log(1 - 0.9**2) / 2:.3f}") == ("0.918", "0.830")
    assert said(KATA, "H(y) = 0.918 bits", "0.830 nats at ρ = 0.9")
    assert abs(bits([[1, 0, 0, 1], [0, 1, 1, 0]], 4)[0] - 1) < 1e-12  # z = x XOR y by (x, y)


def test_information_gain() -> None:
    gain, rest = bits([[2, 4, 3], [3, 0, 2]], 14)
    assert [f"{one:.3f}" for one in (gain + rest, rest, gain)] == ["0.940", "0.694", "0.247"]
    assert said(KATA, "2 good of 5, 4 of 4, and 3 of 5", "0.940 − 0.694 = 0.247 bits")


def test_bias_of_counts() -> None:
    draws = torch.randint(100, (400, 1000), generator=torch.Generator().manual_seed(1))
    tables = torch.stack([row.bincount(minlength=100) for row in draws]).double().view(400, 10, 10) / 1000
    mean = torch.stack([REFERENCE.mutual_information(table) for table in tables]).mean()
    assert abs(mean - 81 / 2000) < 0.003
    assert said(KATA, "With 10 by 10 cells and 1000 samples this is 0.0405 nats", "with 256 candidates, 8 bits")


def test_detached_marginals() -> None:
    joint = torch.randn(20, dtype=torch.float64).softmax(0).view(4, 5).requires_grad_()
    terms = joint * (joint / (joint.sum(1, keepdim=True) * joint.sum(0)).detach()).log()
    detached, whole = (torch.autograd.grad(one.sum(), joint)[0] for one in (terms, REFERENCE.mutual_information(joint)))
    assert (detached - whole - 2).abs().max() < 1e-9
    assert said(KATA, "detached, it is greater by 2 in each cell")
