"""Figures that the texts of several katas share, or that were the first to be calculated again."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said


def overflows(dtype: torch.dtype, exponent: float) -> bool:
    return bool(torch.tensor(exponent, dtype=dtype).exp().isinf())


def test_exp_overflows_from_where_the_texts_say() -> None:
    for dtype, first, last in ((torch.float32, 88.73, 88.72), (torch.float16, 11.09, 11.08)):
        assert overflows(dtype, first)
        assert not overflows(dtype, last)
    assert said("cross_entropy", "in float32 they would from 88.73 on, in float16 from 11.09")
    assert said("cross_entropy", "overflows from 88.73 in float32 and from 11.09 in float16")
    assert f"{math.log(torch.finfo(torch.float32).max):.2f}" == "88.72"
    assert f"{math.log(torch.finfo(torch.float16).max):.2f}" == "11.09"
    assert math.log(torch.finfo(torch.float16).max) < 1 / 0.09
    assert said("info_nce", "float32 ends at exp(88.72), and float16 at exp(11.09), which 1/τ exceeds at τ = 0.09")


def test_seventy_thousand_equal_logits_are_too_many_for_a_sum_in_float16() -> None:
    logits = torch.zeros(70_000, dtype=torch.float16)
    assert logits.exp().sum().isinf()
    assert f"{logits.float().exp().sum().log():.3f}" == f"{math.log(70_000):.3f}" == "11.156"
    assert torch.finfo(torch.float16).max == 65_504
    assert said("cross_entropy", "log 70 000 = 11.156", "float16 ends at 65 504")


def test_smoothed_loss_of_an_impossible_class_is_infinite_or_without_weight_nan() -> None:
    logits, target = torch.tensor([[1.0, 2.0, -torch.inf]]), torch.tensor([0])
    assert F.cross_entropy(logits, target, label_smoothing=0.1) == torch.inf
    weight = torch.tensor([1.0, 1.0, 0.0])
    assert F.cross_entropy(logits, target, weight=weight, label_smoothing=0.1).isnan()
    assert said("cross_entropy", "where that class's weight is 0 it is 0 · ∞ = NaN")


def test_log_sum_exp_in_one_pass_needs_a_first_finite_logit() -> None:
    largest = torch.tensor(-torch.inf)
    assert (largest - torch.maximum(largest, torch.tensor(-torch.inf))).isnan()
    assert said("cross_entropy", "as long as m is −∞, a z of −∞ makes m − m' NaN")


def test_clamped_binary_cross_entropy_stops_where_the_text_says() -> None:
    clamped = torch.tensor([0.0, 1.0]).clamp(1e-7, 1 - 1e-7)
    assert f"{-clamped[0].log():.2f} {-(1 - clamped[1]).log():.2f}" == "16.12 15.94"
    assert said("binary_cross_entropy", "in float32 at 16.12 for positives, and at 15.94 for negatives")


@pytest.mark.parametrize(
    ("maximum_with_0", "slope"),
    [
        (lambda x: x.clamp(min=0), 1.0),
        (torch.relu, 0.0),
        (lambda x: torch.where(x > 0, x, 0), 0.0),
        (lambda x: torch.maximum(x, torch.zeros_like(x)), 0.5),
    ],
    ids=["clamp", "relu", "where", "maximum"],
)
def test_slope_of_binary_cross_entropy_at_0_depends_on_the_maximum(
    maximum_with_0: Callable[[Tensor], Tensor], slope: float
) -> None:
    x, y = torch.zeros(3, requires_grad=True), torch.tensor([0.0, 0.25, 1.0])
    loss = maximum_with_0(x) - x * y + (-x.abs()).exp().log1p()
    (gradient,) = torch.autograd.grad(loss.sum(), x)
    assert gradient.tolist() == (slope - y).tolist()
    assert said(
        "binary_cross_entropy",
        "with `clamp` the result is 1 − y, with `relu` or `where(x > 0, x, 0)` it is −y",
        "`torch.maximum` splits the slope at a tie and gives ½ − y",
    )


@pytest.mark.parametrize("softplus", [F.softplus, lambda x: -F.logsigmoid(-x), lambda x: x.logaddexp(x.new_zeros(()))])
def test_slope_of_softplus_at_0_is_one_half(softplus: Callable[[Tensor], Tensor]) -> None:
    x = torch.zeros(1, requires_grad=True)
    assert torch.autograd.grad(softplus(x).sum(), x)[0] == 0.5


def test_quotient_of_two_int64_tensors_is_rounded_more_than_once() -> None:
    hit, actual = torch.tensor(16_777_217), torch.tensor(33_554_431)
    assert hit / actual == 0.5
    assert f"{(hit.double() / actual).float():.8f}" == "0.50000006"
    assert said("f1_score", "16 777 217 / 33 554 431 comes out as 0.5, where the nearest float32 is 0.50000006")


def test_constants_beyond_float16_raise_or_become_infinite() -> None:
    scores, blocked = torch.zeros(2, dtype=torch.float16), torch.tensor([True, False])
    for constant in (-1e9, -9e15):
        with pytest.raises(RuntimeError, match="overflow"):
            scores.masked_fill(blocked, constant)
        assert torch.where(blocked, constant, scores).tolist() == [-torch.inf, 0]
        assert scores.bfloat16().masked_fill(blocked, constant).isfinite().all()
    assert said("info_nce", "`masked_fill` raises with −9e15, and `torch.where` turns it into −∞")
    assert said("multi_head_attention", "where `masked_fill` raises and `torch.where` makes it −inf")


def test_queries_with_every_key_blocked_differ_between_functions_of_torch() -> None:
    x, blocked = torch.randn(1, 4, 8), torch.ones(4, 4, dtype=torch.bool)
    assert (F.scaled_dot_product_attention(x, x, x, attn_mask=~blocked) == 0).all()
    assert torch.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, attn_mask=blocked)[0].isnan().all()
    assert said(
        "multi_head_attention", "`F.scaled_dot_product_attention` returns 0, and `nn.MultiheadAttention`, asked"
    )


def test_bfloat16_cosines_are_off_by_as_much_as_the_text_says() -> None:
    one = torch.ones((), dtype=torch.bfloat16)
    assert f"{1 - torch.nextafter(one, -one):.3f}" == "0.004"
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4096, 64, generator=generator)
    y = (x + 0.1 * torch.randn(4096, 64, generator=generator)).bfloat16()
    x = x.bfloat16()
    right = F.cosine_similarity(x.double(), y.double())
    units = F.normalize(x, dim=1), F.normalize(y, dim=1)
    within_bfloat16 = (units[0] * units[1]).sum(1)
    from_units = (units[0].float() * units[1].float()).sum(1)
    in_float32 = F.cosine_similarity(x.float(), y.float())
    assert f"{(within_bfloat16 - right).abs().max():.2f}" == "0.01"
    assert 0.006 < (from_units - right).abs().max() < 0.01
    assert (in_float32 - right).abs().max() < 1e-6
    assert said("info_nce", "a cosine was off by up to 0.01, so by 1 in the logit")
    assert said("info_nce", "they give cosines that are off by nearly 0.01")


def test_autocast_takes_products_of_float32_in_half_precision() -> None:
    x = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (x @ x).dtype == torch.float32


def info_nce_of(features: Tensor, rows: Tensor) -> Tensor:
    """The mean loss of some rows of a batch, in float64."""
    unit = F.normalize(features, dim=1)
    logits = (unit @ unit.mT / 0.1).masked_fill(torch.eye(len(unit), dtype=torch.bool), -torch.inf)
    return F.cross_entropy(logits[rows], rows.roll(len(rows) // 2))


@pytest.mark.parametrize("devices", [2, 4])
def test_gathering_without_gradient_is_wrong_in_direction_or_in_length(devices: int) -> None:
    """The gradient on a linear encoder, averaged over devices that each hold some of eight samples."""
    generator = torch.Generator().manual_seed(0)
    views = torch.randn(2, 8, 6, generator=generator, dtype=torch.float64)
    inputs = torch.cat([views[0], views[0] + 0.3 * views[1]])
    encoder = torch.randn(6, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    everything = torch.arange(16)

    def averaged(own_rows_only: bool, gathered_with_gradient: bool) -> Tensor:
        gradients = []
        for samples in torch.arange(8).chunk(devices):
            own = torch.cat([samples, samples + 8])
            features = inputs @ encoder
            if not gathered_with_gradient:
                is_own = torch.isin(everything, own)[:, None]
                features = torch.where(is_own, features, features.detach())
            loss = info_nce_of(features, own if own_rows_only else everything)
            gradients.append(torch.autograd.grad(loss, encoder)[0].flatten())
        return torch.stack(gradients).mean(0)

    (right,) = torch.autograd.grad(info_nce_of(inputs @ encoder, everything), encoder)
    right = right.flatten()
    torch.testing.assert_close(averaged(own_rows_only=True, gathered_with_gradient=True), right)
    torch.testing.assert_close(averaged(own_rows_only=False, gathered_with_gradient=False), right / devices)
    assert F.cosine_similarity(averaged(own_rows_only=True, gathered_with_gradient=False), right, dim=0) < 0.99


def test_distance_has_a_gradient_of_length_1_or_at_0_none() -> None:
    for length, slope in ((1e-15, 1.0), (0.0, 0.0)):
        difference = torch.tensor([length, 0.0], requires_grad=True)
        (gradient,) = torch.autograd.grad(torch.linalg.vector_norm(difference), difference)
        assert gradient.tolist() == pytest.approx([slope, 0])


def test_eps_beside_a_product_of_norms_is_the_larger_term() -> None:
    assert f"{1e-10 / (1e-10 + 1e-8):.4f}" == "0.0099"
    assert said("cosine_similarity", "An added 1e-8 is 100 times larger than the product itself: the result is 0.0099")
