"""The figures that self_attention's texts state."""

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

KATA = "self_attention"
(FOUND,) = katas.find([KATA], ROOT)
SelfAttention = load_module(FOUND.reference_file, "self_attention_of_the_figures").SelfAttention


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def step_above(number: float, dtype: torch.dtype) -> float:
    here = torch.tensor(number, dtype=dtype)
    return float(torch.nextafter(here, torch.tensor(torch.inf, dtype=dtype)) - here)


def test_example_by_hand() -> None:
    assert f"{1 / (1 + math.e):.4f} {math.e / (1 + math.e):.4f}" == "0.2689 0.7311"
    assert said(KATA, "1 / (1 + e) = 0.2689 and e / (1 + e) = 0.7311")


def test_dot_products_have_the_variance_d_and_scaled_ones_1() -> None:
    for D in (16, 256):
        q, k = normal(2, 20_000, D).unbind()
        products = (q * k).sum(1)
        assert products.var() == pytest.approx(D, rel=0.05)
        assert (products / math.sqrt(D)).var() == pytest.approx(1, rel=0.05)
    assert said(KATA, "their dot product has variance D", "brings the variance back to 1")


def test_bias_of_the_keys_has_no_gradient_and_that_of_the_queries_has() -> None:
    layer = SelfAttention(6).double()
    sum((one * normal(*one.shape)).sum() for one in layer(normal(2, 5, 6))).backward()
    assert layer.W_k.bias.grad.abs().max() < 1e-12 < 1e-3 < layer.W_q.bias.grad.abs().max()
    assert said(KATA, "That of `W_k`'s bias is 0 in exact arithmetic")


def test_product_overflows_float16_where_the_scaled_one_does_not() -> None:
    q = torch.full((4, 4), 150.0, dtype=torch.float16)
    assert (q @ q.mT).isinf().all()
    assert ((q / math.sqrt(4)) @ q.mT == 45_000).all()
    assert torch.finfo(torch.float16).max == 65_504
    assert said(KATA, "In float16 the product overflows above 65 504", "float16 ends at 65 504")


def test_root_of_a_tensor_costs_half_of_the_digits() -> None:
    root = torch.sqrt(torch.tensor(7))
    assert root.dtype == torch.float32
    assert 1e-9 < abs(float(root) - math.sqrt(7)) < 1e-6
    assert said(KATA, "`torch.sqrt(torch.tensor(D))` is float32, and float64 results would lose half of their digits")


def test_gradient_of_the_scores() -> None:
    scores, G = normal(2, 4, 6).unbind()
    scores.requires_grad_()
    A = scores.softmax(-1)
    (gradient,) = torch.autograd.grad(A, scores, G)
    torch.testing.assert_close(gradient, A * (G - (A * G).sum(-1, keepdim=True)))
    assert gradient.sum(-1).abs().max() < 1e-12
    assert said(KATA, "A_ij · (G_ij − Σ_k A_ik G_ik)")


def test_causal_attention_needs_about_half_of_the_scores() -> None:
    S = 512
    assert torch.ones(S, S).tril().mean() == pytest.approx(0.5, abs=0.01)
    x = normal(1, S, 4)
    changed = x.clone()
    changed[:, 300] += 1
    out, other = (F.scaled_dot_product_attention(z, z, z, is_causal=True) for z in (x, changed))
    assert torch.equal(out[:, :300], other[:, :300])
    assert said(KATA, "about half the work", "no output before it may change")


def test_bytes_of_the_scores_and_of_what_they_are_made_of() -> None:
    assert (f"{8192**2 * 2 / 1e6:.0f}", f"{8192 * 128 * 2 / 1e6:.1f}") == ("134", "2.1")
    assert said(KATA, "at S = 8 192 such a matrix is 134 MB for one head in bfloat16")
    assert said(KATA, "Q, K and V with 128 channels are 2.1 MB each")


def test_blocks_give_the_same_attention_and_the_log_sum_exp_its_weights() -> None:
    q, k, v = normal(3, 7, 6).unbind()
    scores = q @ k.mT
    m, total, o = torch.full((7, 1), -torch.inf, dtype=torch.float64), torch.zeros(7, 1), torch.zeros(7, 6)
    for block in torch.arange(7).chunk(3):
        s = scores[:, block]
        larger = torch.maximum(m, s.amax(1, keepdim=True))
        shrink = (m - larger).exp()
        total = total * shrink + (s - larger).exp().sum(1, keepdim=True)
        o = o * shrink + (s - larger).exp() @ v[block]
        m = larger
    torch.testing.assert_close(o / total, scores.softmax(1) @ v)
    torch.testing.assert_close((scores - (m + total.log())).exp(), scores.softmax(1))
    assert math.isnan(-math.inf - -math.inf)
    assert said(KATA, "multiply ℓ and o by exp(m − m')", "In the end o / ℓ is the output", "each weight is exp(s − L)")


def test_steps_of_the_half_precisions() -> None:
    steps = [step_above(1.0, dtype) for dtype in (torch.float16, torch.bfloat16)]
    assert [f"{step:.3f}" for step in steps] == ["0.001", "0.008"]
    assert step_above(64.0, torch.bfloat16) == step_above(127.0, torch.bfloat16) == 0.5
    assert f"{math.exp(0.5 / 2) - 1:.0%}" == "28%"
    assert torch.finfo(torch.bfloat16).max > 0.99 * torch.finfo(torch.float32).max
    assert said(KATA, "0.001 just above 1 against 0.008 in bfloat16", "between 64 and 128 its numbers are 0.5 apart")
    assert said(KATA, "a rounded score is off by up to 0.25, and its weight by up to 28 %")


def test_small_gradients_vanish_in_float16() -> None:
    assert torch.tensor(2.9e-8, dtype=torch.float16) == 0 < torch.tensor(3e-8, dtype=torch.float16)
    assert torch.tensor(2.9e-8, dtype=torch.bfloat16) > 0
    assert said(KATA, "gradients below 2.9e-8 become 0")


def test_padding_beside_a_causal_mask() -> None:
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    real = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]], dtype=torch.bool)  # padded on the right, and on the left
    allowed = causal & real[:, None]
    assert allowed.shape == (2, 5, 5)
    assert torch.equal(allowed[0, :3], causal[:3])
    assert allowed[1].any(1).tolist() == [False, False, True, True, True]
    assert torch.zeros(5).masked_fill(~allowed[1, 0], -torch.inf).softmax(0).isnan().all()
    assert said(KATA, "query i may attend to key j if j ≤ i and j is not padding")
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        least = torch.tensor(torch.finfo(dtype).min, dtype=dtype)
        assert least + least == -torch.inf
    assert said(KATA, "Adding two masks of the dtype's minimum gives −∞")


def test_true_means_allowed_in_one_of_torchs_attentions_and_blocked_in_the_other() -> None:
    x, mask = normal(1, 3, 4), torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(F.scaled_dot_product_attention(x, x, x, attn_mask=mask), x)
    module = torch.nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
    assert (module(x, x, x, attn_mask=mask)[1][0].diagonal() == 0).all()
    assert said(KATA, "True means allowed in `F.scaled_dot_product_attention`, but blocked in `nn.MultiheadAttention`")


def test_rotated_scores_depend_on_the_offset_alone() -> None:
    def rotation(position: int) -> Tensor:
        c, s = math.cos(0.3 * position), math.sin(0.3 * position)
        return torch.tensor([[c, -s], [s, c]], dtype=torch.float64)

    q, k = normal(2, 2).unbind()
    for i, j in ((0, 3), (5, 8), (9, 2)):
        torch.testing.assert_close((rotation(i) @ q) @ (rotation(j) @ k), q @ (rotation(j - i) @ k))
        torch.testing.assert_close((rotation(i) @ q).norm(), q.norm())
    assert said(KATA, "(R_i q) · (R_j k) = q · (R_{j−i} k)")


def test_reach_of_windows_over_layers() -> None:
    assert round(32 * 4096, -3) == 131_000
    w, S, layers = 3, 20, 4
    window = torch.ones(S, S).tril() - torch.ones(S, S).tril(-w)
    reached = torch.linalg.matrix_power(window, layers)[-1].nonzero().min()
    assert S - 1 - reached == layers * (w - 1)
    assert said(KATA, "32 layers of w = 4 096 reach about 131 000 tokens back")
