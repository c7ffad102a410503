"""The figures of nce_loss's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "nce_loss"
DATA, NOISE = torch.tensor([[0.4, 0.3, 0.15, 0.1, 0.05], [0.1, 0.2, 0.3, 0.3, 0.1]], dtype=torch.float64)
K = 7


def slope(delta: Tensor, weight: float) -> float:
    """The largest slope of the expected loss of five classes, where the noise has this weight."""
    delta = delta.clone().requires_grad_()
    loss = -(DATA * F.logsigmoid(delta)).sum() - weight * (NOISE * F.logsigmoid(-delta)).sum()
    return torch.autograd.grad(loss, delta)[0].abs().max().item()


def test_example_by_hand() -> None:
    log_2 = math.log(2)
    first, second = (F.softplus(torch.tensor(x)) for x in ([-log_2, log_2, log_2 - 1], [1, 1 + log_2, log_2]))
    assert [f"{cost:.4f}" for cost in (*first, first.sum())] == ["0.4055", "1.0986", "0.5514", "2.0555"]
    assert [f"{cost:.4f}" for cost in (*second, second.sum())] == ["1.3133", "1.8620", "1.0986", "4.2739"]
    assert said(KATA, "−log(2/3) = 0.4055", "= 1.0986 and log(1 + e^−0.3069) = 0.5514. The row costs 2.0555")
    assert said(KATA, "log(1 + e¹) = 1.3133; the noise samples cost 1.8620 and 1.0986. The row costs 4.2739")
    assert f"{(first.sum() + second.sum()) / 2:.4f}" == "3.1647"


def test_best_scores_of_five_classes() -> None:
    log_p, log_noise, log_K = DATA.log(), NOISE.log(), math.log(K)
    assert slope(log_p - log_noise - log_K, K) < 1e-12
    assert slope((log_p - log_K) - log_noise, K) < 1e-12  # without log K
    assert slope((log_p + log_K) - log_noise - log_K, 1) < 1e-12  # a mean over the noise
    assert slope(log_p - log_noise, 1) < 1e-12 < slope(log_p - log_noise, K)  # both
    assert said(KATA, "the best score is log p − log K: eˢ adds up to 1/K", "eˢ adds up to K", "they cancel")
    assert slope((DATA / NOISE).log() - log_K, K) < 1e-12  # of the scores alone
    assert said(KATA, "Its scores do not learn log p but log(p / pₙ) − log K")


def test_rounded_logs_and_sigmoids() -> None:
    assert f"{abs(torch.tensor(217).log().item() - math.log(217)):.0e}" == "2e-07"
    sigmoids = torch.tensor([36.0, 37.0], dtype=torch.float64).sigmoid()
    assert (1 - sigmoids > 0).tolist() == [True, False]
    assert torch.tensor(-18.0, dtype=torch.float16).sigmoid() == 0
    assert said(KATA, "off by 2e-7", "1 − σ(δ) is 0 from δ = 37 on, in float64", "in float16 at −18")
    assert f"{1 / (1 + math.exp(10)):.1e} {8 * math.log(8) - 7 * math.log(7):.3f}" == "4.5e-05 3.014"
    assert said(KATA, "4.5e-5 at δ⁻ = −10", "3.014 for K = 7")


def test_densities_and_costs() -> None:
    assert f"{-784 / 2 * math.log(2 * math.pi):.0f} {math.log(2**-149):.0f} {50_000 / 26:.2g}" == "-720 -103 1.9e+03"
    assert said(KATA, "in 784 dimensions", "e^−720. The smallest positive float32 is about e^−103")
    assert said(KATA, "position needs 26 scores; a softmax over 50 000 words needs about 1 900")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert max(one["neg_scores"].shape[1] for one in inputs["sizes"]) == 217
    assert 9_900 < inputs["far_logits"][-1]["neg_scores"].abs().max() < 10_100
    assert [round(one["pos_scores"].mean().item(), -2) for one in inputs["many_dimensions"]] == [-1000, 1000]
    assert said(KATA, "217 is asked", "δ from −10 000 to 10 000", "both be near −1000 or near 1000")
