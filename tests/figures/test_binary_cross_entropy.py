"""The figures of binary_cross_entropy's texts, calculated again."""

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
from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "binary_cross_entropy"


def test_example_by_hand() -> None:
    assert (f"{-math.log(0.9):.4f}", f"{-math.log(1 - 0.2):.4f}") == ("0.1054", "0.2231")
    zero, two = math.log(2), math.log(1 + math.exp(2))
    assert (f"{zero:.4f}", f"{math.log1p(math.exp(100)):.4f}", f"{two:.4f}") == ("0.6931", "100.0000", "2.1269")
    assert f"{(3 * zero + 3 * 100 + two) / 3:.4f}" == "101.4021"
    assert said(KATA, "−log 0.9 = 0.1054 and −log(1 − 0.2) = 0.2231")
    assert said(KATA, "log 2 = 0.6931, log(1 + e¹⁰⁰) = 100 and log(1 + e²) = 2.1269")
    assert said(KATA, "(3 · 0.6931 + 3 · 100 + 2.1269) / 3 = 101.4021")


def test_sigmoid_is_1_in_float32_from_17_on() -> None:
    x = torch.tensor([16.0, 17.0])
    assert (x.sigmoid() == 1).tolist() == [False, True]
    assert f"{F.logsigmoid(-x)[1]:.4f}" == "-17.0000"
    assert said(KATA, "σ(x) is exactly 1 in float32 from x = 17 on", "where it should be −17")


def test_likelihood_of_one_positive_has_an_integral_of_one_half() -> None:
    p = (torch.arange(1000) + 0.5) / 1000
    assert p.mean().item() == pytest.approx(0.5)
    assert said(KATA, "for one positive it is p, with an integral of ½")


def test_batches_with_a_rare_positive_and_sampled_negatives() -> None:
    assert f"{1 - (1 - 1e-4) ** 256:.1%}" == "2.5%"
    assert f"{math.log(0.01):.2f}" == "-4.61"
    assert f"{1 / (1 + math.exp(-(0 + math.log(0.01)))):.4f}" == "0.0099"
    assert said(KATA, "One click in 10 000", "A batch of 256 has a positive in only 2.5 % of the cases")
    assert said(KATA, "for r = 1 % a shift of −4.61, so a sampled score of 0.5 means 0.0099")


def focal(x: Tensor) -> Tensor:
    p = x.sigmoid()
    return -((1 - p) ** 2) * p.log()


def test_focal_loss() -> None:
    p = torch.tensor([0.9, 0.1], dtype=torch.float64)
    x = p.logit().requires_grad_()
    loss = focal(x)
    shares = loss / -x.sigmoid().log()
    assert [f"{share:.2g}" for share in shares.tolist()] == ["0.01", "0.81"]
    (gradient,) = torch.autograd.grad(loss.sum(), x)
    torch.testing.assert_close(gradient, (1 - p) ** 2 * (2 * p * p.log() + p - 1))
    assert f"{gradient[0]:.4f}" == "-0.0029"
    assert f"{-0.1 / gradient[0]:.0f}" == "35"
    assert said(KATA, "p_t = 0.9 counts 100 times less, and a hard one with p_t = 0.1 keeps 81 %")
    assert said(KATA, "At p_t = 0.9 that is −0.0029, against −0.1 for BCE, so 35 times less")


def test_focal_loss_is_not_least_at_the_true_probability() -> None:
    x = torch.tensor(0.8, dtype=torch.float64).logit().requires_grad_()
    (slope,) = torch.autograd.grad(0.8 * focal(x) + 0.2 * focal(-x), x)
    assert abs(slope) > 0.01
    assert said(KATA, "Its minimum is not at the true probability")


def test_last_bias_of_rare_positives() -> None:
    entropy = -0.01 * math.log(0.01) - 0.99 * math.log(0.99)
    assert f"{math.log(0.01 / 0.99):.2f}" == "-4.60"
    assert (f"{entropy:.3f}", f"{math.log(2):.3f}") == ("0.056", "0.693")
    assert said(KATA, "with π = 0.01, that is −4.60", "0.056, rather than log 2 = 0.693")


def test_smoothed_binary_targets() -> None:
    smoothed = [y * 0.9 + 0.05 for y in (1, 0)]
    assert [f"{y:.2f}" for y in smoothed] == ["0.95", "0.05"]
    assert f"{math.log(0.95 / 0.05):.2f}" == f"{math.log(19):.2f}" == "2.94"
    assert f"{-0.05 * math.log(0.05) - 0.95 * math.log(0.95):.3f}" == "0.199"
    assert said(KATA, "ε = 0.1 makes 0.95 of 1 and 0.05 of 0", "± log 19 = ± 2.94", "entropy of the target, 0.199")


def tensors_kept(with_logits: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor) -> int:
    kept: set[int] = set()
    alive: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        if tensor.numel() == x.numel():
            kept.add(tensor.untyped_storage().data_ptr())
            alive.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        with_logits(x, y)
    return len(kept)


def test_tensors_that_autograd_keeps() -> None:
    (kata,) = katas.find([KATA], ROOT)
    by_hand = load_module(kata.reference_file, "reference_of_binary_cross_entropy").binary_cross_entropy_with_logits
    x, y = torch.randn(1000, requires_grad=True), torch.rand(1000)
    assert tensors_kept(by_hand, x, y) == 5
    assert tensors_kept(F.binary_cross_entropy_with_logits, x, y) == 2
    assert said(KATA, "easily five of the size of the input", "keeps the logits and the targets alone")


def test_column_against_a_vector_broadcasts() -> None:
    assert (torch.ones(5, 1) - torch.ones(5)).numel() == 25
    assert said(KATA, "(5, 1) against (5,) would broadcast to 25 losses")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert inputs["far_logits"][0]["logits"].abs().max() == 10_000
    assert 1e-300 <= inputs["probs_below_the_clamp"][0]["probs"].min() < math.exp(-100)
    assert 1e-30 < inputs["tiny_probs"][0]["probs"].min() < 1e-24
    assert 1e-6 < inputs["confident_probs"][0]["probs"].min() < 1e-4
    assert said(
        KATA, "from −10 000 to 10 000", "as small as 1e-300", "as close to 0 as 1e-30, and as close to 1 as 1 − 1e-6"
    )
