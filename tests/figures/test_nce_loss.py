"""The figures of nce_loss's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "nce_loss"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "nce_loss_of_the_figures").nce_loss
DATA = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05], dtype=torch.float64)
NOISE = torch.tensor([0.1, 0.2, 0.3, 0.3, 0.1], dtype=torch.float64)
K = 7


def slope(scores: Tensor, log_K: float, noise_terms: float) -> float:
    """The largest slope of the expected loss of five classes."""
    scores = scores.clone().requires_grad_()
    delta = scores - NOISE.log() - log_K
    loss = -(DATA * F.logsigmoid(delta)).sum() - noise_terms * (NOISE * F.logsigmoid(-delta)).sum()
    (gradient,) = torch.autograd.grad(loss, scores)
    return gradient.abs().max().item()


def test_example_by_hand() -> None:
    first = [-math.log(2 / 3), math.log(1 + math.exp(math.log(2))), math.log(1 + math.exp(math.log(2) - 1))]
    second = [math.log(2), math.log(1 + math.exp(math.log(2) + 1)), math.log(3)]
    assert [f"{cost:.4f}" for cost in (*first, sum(first))] == ["0.4055", "1.0986", "0.5514", "2.0555"]
    assert [f"{cost:.4f}" for cost in (*second, sum(second))] == ["0.6931", "1.8620", "1.0986", "3.6537"]
    assert f"{(sum(first) + sum(second)) / 2:.4f}" == "2.8546"
    assert f"{math.log(2) - 1:.4f}" == "-0.3069"
    assert said(KATA, "−log(2/3) = 0.4055", "log 2 = 0.6931 and log 2 − 1 = −0.3069", "The row costs 2.0555")
    assert said(KATA, "log(1 + e^0.6931) = 1.0986 and log(1 + e^−0.3069) = 0.5514", "1.8620 and 1.0986")
    assert said(KATA, "together 3.6537", "The mean of the two rows is 2.8546")


def test_best_scores_of_five_classes() -> None:
    assert slope(DATA.log(), math.log(K), K) < 1e-12
    assert slope(DATA.log() - math.log(K), 0, K) < 1e-12
    assert slope(DATA.log() + math.log(K), math.log(K), 1) < 1e-12
    assert slope(DATA.log(), 0, 1) < 1e-12
    assert slope(DATA.log(), 0, K) > 0.01
    assert said(KATA, "the best score is log p − log K: eˢ adds up to 1/K", "eˢ adds up to K", "they cancel")


def test_negative_sampling_is_nce_of_uniform_noise_over_k_words() -> None:
    scores = torch.linspace(-3, 3, K + 1, dtype=torch.float64)
    of_noise = torch.full((K + 1,), -math.log(K), dtype=torch.float64)
    loss = REFERENCE(scores[:1], scores[None, 1:], of_noise[:1], of_noise[None, 1:])
    torch.testing.assert_close(loss, -F.logsigmoid(scores[0]) - F.logsigmoid(-scores[1:]).sum())
    best = (DATA / NOISE).log() - math.log(K)  # of σ(s) alone: s − log pₙ − log K + (log pₙ + log K)
    assert slope(best + NOISE.log() + math.log(K), math.log(K), K) < 1e-12
    assert said(KATA, "it is NCE where K pₙ = 1, for a uniform noise over K words", "log(p / pₙ) − log K")


def test_loss_of_scores_that_are_the_noise() -> None:
    assert f"{8 * math.log(8) - 7 * math.log(7):.3f}" == "3.014"
    assert said(KATA, "3.014 for K = 7")


def test_rounded_logs_and_sigmoids() -> None:
    assert f"{abs(torch.tensor(217).log().item() - math.log(217)):.0e}" == "2e-07"
    sigmoids = torch.tensor([36.0, 37.0], dtype=torch.float64).sigmoid()
    assert (1 - sigmoids > 0).tolist() == [True, False]
    assert torch.tensor(-18.0, dtype=torch.float16).sigmoid() == 0
    assert said(KATA, "off by 2e-7", "1 − σ(δ) is 0 from δ = 37 on, in float64", "in float16 at −18")
    assert f"{1 / (1 + math.exp(10)):.1e}" == "4.5e-05"
    assert said(KATA, "4.5e-5 at δ⁻ = −10")


def test_density_in_784_dimensions_fits_no_float32() -> None:
    assert f"{-784 / 2 * math.log(2 * math.pi):.0f}" == "-720"
    assert f"{math.log(2**-149):.0f}" == "-103"
    assert said(KATA, "in 784 dimensions", "e^−720. The smallest positive float32 is about e^−103")


def test_cost_of_a_softmax() -> None:
    assert round(50_000 / 26, -2) == 1900
    assert said(
        KATA, "With 25 noise samples each position needs 26 scores; a softmax over 50 000 words needs about 1 900"
    )


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert max(one["neg_scores"].shape[1] for one in inputs["sizes"]) == 217
    assert 9_900 < inputs["far_logits"][-1]["neg_scores"].abs().max() < 10_100
    assert [round(one["pos_scores"].mean().item(), -2) for one in inputs["many_dimensions"]] == [-1000, 1000]
    assert min(one["log_noise_neg"].max() for one in inputs["densities_above_one"]) > 0
    assert said(KATA, "217 is asked", "δ from −10 000 to 10 000", "both be near −1000 or near 1000")
