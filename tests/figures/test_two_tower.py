"""The figures of two_tower's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "two_tower"


def test_example_by_hand() -> None:
    cosines, own = torch.tensor([[0.6, 0.0], [0.8, 1.0]]), torch.arange(2)
    plain = F.cross_entropy(cosines, own, reduction="none")
    assert [f"{x:.4f}" for x in (*plain, plain.mean())] == ["0.4375", "0.5981", "0.5178"]
    assert said(KATA, "log(e^0.6 + e⁰) − 0.6 = 0.4375", "log(e^0.8 + e¹) − 1 = 0.5981", "their mean, 0.5178")
    q = torch.tensor([0.8, 0.2])
    assert [f"{x:.4f}" for x in (cosines.exp() / q).flatten()] == ["2.2776", "5.0000", "2.7819", "13.5914"]
    corrected = F.cross_entropy(cosines - q.log(), own, reduction="none")
    assert [f"{x:.4f}" for x in (*corrected, corrected.mean())] == ["1.1617", "0.1862", "0.6739"]
    assert said(KATA, "e^0.6/0.8 = 2.2776 and e⁰/0.2 = 5", "log((2.2776 + 5)/2.2776) = 1.1617")
    assert said(KATA, "e^0.8/0.8 = 2.7819 and e¹/0.2 = 13.5914", "13.5914)/13.5914) = 0.1862. Their mean is 0.6739")


def test_what_the_scores_converge_to() -> None:
    """Candidates weighted by q, as batches weigh them: the gradient is 0 where the text says."""
    p, q = torch.rand(2, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64).softmax(1).unbind()
    for scores, correction in (((p / q).log() + 3, 0), (p.log() + 3, q.log())):
        scores.requires_grad_()
        logits = scores - correction
        loss = (q * logits.exp()).sum().log() - (p * logits).sum()
        assert torch.autograd.grad(loss, scores)[0].abs().max() < 1e-12
    assert said(KATA, "to log(p(j | i) / q_j) plus a constant", "the scores converge to log p(j | i)")


def test_a_positive_left_uncorrected_and_one_that_is_repeated() -> None:
    assert f"{math.log(1e-6):.2f}" == "-13.82"
    assert 2 / 0.5 < 13.82
    assert said(KATA, "log q is −13.82 for all", "each of them gains 13.82", "with τ = 0.5")
    assert f"{math.log(2):.2f}" == "0.69"
    assert said(KATA, "at least log 2 = 0.69")


def test_shares_at_the_ends_of_the_cosines() -> None:
    assert f"{math.e**2 / (math.e**2 + 1023):.1%}" == "0.7%"
    assert (1 / 0.05, math.isclose(1 / 0.05, 20)) == (20, True)
    assert said(KATA, "among 1 024 candidates is then at most e²/(e² + 1 023) = 0.7 %", "reach from −20 to 20")
    assert said(KATA, "at τ = 0.05 it would count twenty times")


def test_bytes_of_a_table_over_devices() -> None:
    assert f"{8192 * 8 * 8192 * 4 / 1e9:.1f}" == "2.1"
    assert said(KATA, "with B = 8 192 on 8 devices 2.1 GB in float32")


def test_ids_that_floats_take_for_equal() -> None:
    assert torch.tensor(2**24).float() == torch.tensor(2**24 + 1).float()
    hashes = torch.tensor([2**62, 2**62 + 1])
    assert len({*hashes.double().tolist()}) == 1 < len({*hashes.tolist()})
    assert said(KATA, "`item_ids.float()` rounds from 2²⁴ on", "hashes near 2⁶²")


def test_extremes_are_those_that_are_asked() -> None:
    asked = torch.cat([one["log_q"] for one in inputs_of(KATA)["rare_items"]])
    assert asked.min() == -40
    assert asked.max() > 0
    assert said(KATA, "`log_q` may be −40, and above 0", "it may be as low as −40")
