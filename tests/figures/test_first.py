"""Figures that the texts of several katas share, or that were the first to be calculated again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import normal, said


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
        "with `clamp` the loss's gradient is 1 − y, with `relu` or `where(x > 0, x, 0)` it is −y",
        "`torch.maximum` splits the slope at a tie and gives ½ − y",
    )


def test_constants_beyond_float16_raise_or_become_infinite() -> None:
    scores, blocked = torch.zeros(2, dtype=torch.float16), torch.tensor([True, False])
    for constant in (-1e9, -9e15):
        with pytest.raises(RuntimeError, match="overflow"):
            scores.masked_fill(blocked, constant)
        assert torch.where(blocked, constant, scores).tolist() == [-torch.inf, 0]
        assert scores.bfloat16().masked_fill(blocked, constant).isfinite().all()
    assert said("info_nce", "`masked_fill` raises with −9e15, and `torch.where` turns it into −∞")
    assert said("multi_head_attention", "`masked_fill` raises, and `torch.where` makes it −inf")


def test_queries_with_every_key_blocked_differ_between_functions_of_torch() -> None:
    x, blocked = torch.randn(1, 4, 8), torch.ones(4, 4, dtype=torch.bool)
    assert (F.scaled_dot_product_attention(x, x, x, attn_mask=~blocked) == 0).all()
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    for training, grad in ((True, True), (True, False), (False, True), (False, False)):
        with torch.set_grad_enabled(grad):
            assert layer.train(training)(x, x, x, attn_mask=blocked)[0].isnan().all()
    assert said(
        "multi_head_attention",
        "`F.scaled_dot_product_attention` returns 0, and `nn.MultiheadAttention` by default returns NaN",
    )


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


def test_seventy_thousand_equal_logits_are_too_many_for_a_sum_in_float16() -> None:
    assert torch.zeros(70_000, dtype=torch.float16).exp().sum().isinf()


def test_smoothed_loss_of_an_impossible_class_is_infinite() -> None:
    logits, target = torch.tensor([[1.0, 2.0, -torch.inf]]), torch.tensor([0])
    assert F.cross_entropy(logits, target, label_smoothing=0.1) == torch.inf


@pytest.mark.parametrize("softplus", [F.softplus, lambda x: -F.logsigmoid(-x), lambda x: x.logaddexp(x.new_zeros(()))])
def test_slope_of_softplus_at_0_is_one_half(softplus: Callable[[Tensor], Tensor]) -> None:
    assert torch.func.grad(softplus)(torch.tensor(0.0)) == 0.5


@pytest.mark.parametrize(("length", "slope"), [(1e-15, 1.0), (0.0, 0.0)])
def test_distance_has_a_gradient_of_length_1_or_at_0_none(length: float, slope: float) -> None:
    gradient = torch.func.grad(torch.linalg.vector_norm)(torch.tensor([length, 0.0]))
    assert gradient.tolist() == pytest.approx([slope, 0])


def test_autocast_takes_products_of_float32_in_half_precision() -> None:
    x = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (x @ x).dtype == torch.float32


def test_bfloat16_cosines_are_off_by_as_much_as_the_text_says() -> None:
    x, y = normal(4096, 64).bfloat16(), (normal(4096, 64) + 0.1 * normal(2, 4096, 64)[1]).bfloat16()
    right, units = F.cosine_similarity(x.double(), y.double()), [F.normalize(z, dim=1) for z in (x, y)]
    assert f"{((units[0] * units[1]).sum(1) - right).abs().max():.2f}" == "0.01"
    assert 0.006 < ((units[0].float() * units[1].float()).sum(1) - right).abs().max() < 0.01
    assert (F.cosine_similarity(x.float(), y.float()) - right).abs().max() < 1e-6
    assert said("info_nce", "cosines were off by up to 0.01, and logits by up to 1")
    assert said("info_nce", "they give cosines that are off by nearly 0.01")
