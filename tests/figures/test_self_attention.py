"""The figures that self_attention's texts state."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import normal, reference_of, said

KATA = "self_attention"
SelfAttention = reference_of(KATA).SelfAttention


def test_bias_of_the_keys_has_no_gradient_and_that_of_the_queries_has() -> None:
    layer = SelfAttention(6).double()
    sum((one * normal(*one.shape)).sum() for one in layer(normal(2, 5, 6))).backward()
    assert layer.W_k.bias.grad.abs().max() < 1e-12 < 1e-3 < layer.W_q.bias.grad.abs().max()
    assert said(KATA, "The gradient of `W_k`'s bias is 0 in exact arithmetic")


def test_gradient_of_the_scores() -> None:
    scores, G = normal(2, 4, 6).unbind()
    scores.requires_grad_()
    A = scores.softmax(-1)
    (gradient,) = torch.autograd.grad(A, scores, G)
    torch.testing.assert_close(gradient, A * (G - (A * G).sum(-1, keepdim=True)))
    assert gradient.sum(-1).abs().max() < 1e-12
    assert said(KATA, "A_ij · (G_ij − Σ_k A_ik G_ik)")


def test_padding_beside_a_causal_mask() -> None:
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    real = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]], dtype=torch.bool)  # padded on the right, and on the left
    allowed = causal & real[:, None]
    assert allowed.shape == (2, 5, 5)
    assert torch.equal(allowed[0, :3], causal[:3])
    assert allowed[1].any(1).tolist() == [False, False, True, True, True]
    assert torch.zeros(5).masked_fill(~allowed[1, 0], -torch.inf).softmax(0).isnan().all()
    assert said(KATA, "query i may attend to key j if j ≤ i and j is not padding")
    scores = torch.ones(5, 5)  # written over by one mask, or with two masks added: hidden keys get weights, and no NaN
    least = torch.finfo(scores.dtype).min
    added = scores + torch.zeros(5, 5).masked_fill(~causal, least) + torch.zeros(5).masked_fill(~real[1], least)
    for hidden in (scores.masked_fill(~allowed[1], least), added):
        weights = hidden.softmax(1)
        assert ((weights * ~allowed[1]).sum(1)[:2] == 1).all()
        assert (weights * ~allowed[1])[2:].sum() == 0
    assert said(KATA, "such a row becomes an average of hidden values instead")


def test_true_means_allowed_in_one_of_torchs_attentions_and_blocked_in_the_other() -> None:
    x, mask = normal(1, 3, 4), torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(F.scaled_dot_product_attention(x, x, x, attn_mask=mask), x)
    module = torch.nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
    assert (module(x, x, x, attn_mask=mask)[1][0].diagonal() == 0).all()
    assert said(KATA, "True means allowed in `F.scaled_dot_product_attention`, but blocked in `nn.MultiheadAttention`")


def test_product_overflows_float16_where_the_scaled_one_does_not() -> None:
    q = torch.full((4, 4), 150.0, dtype=torch.float16)
    assert (q @ q.mT).isinf().all()
    assert ((q / math.sqrt(4)) @ q.mT == 45_000).all()


def test_causal_attention_needs_about_half_of_the_scores() -> None:
    x = normal(1, 512, 4)
    changed = x.index_add(1, torch.tensor([300]), torch.ones(1, 1, 4).double())
    out, other = (F.scaled_dot_product_attention(z, z, z, is_causal=True) for z in (x, changed))
    assert torch.equal(out[:, :300], other[:, :300])
    assert said(KATA, "about half the work", "the outputs of all earlier tokens must stay the same")


def test_blocks_give_the_same_attention_and_the_log_sum_exp_its_weights() -> None:
    q, k, v = normal(3, 7, 6)
    scores = q @ k.mT
    m, total, o = torch.full((7, 1), -torch.inf).double(), torch.zeros(7, 1), torch.zeros(7, 6)
    for block in torch.arange(7).chunk(3):
        larger = torch.maximum(m, scores[:, block].amax(1, keepdim=True))
        shrink, s = (m - larger).exp(), (scores[:, block] - larger).exp()
        m, total, o = larger, total * shrink + s.sum(1, keepdim=True), o * shrink + s @ v[block]
    torch.testing.assert_close(o / total, scores.softmax(1) @ v)
    torch.testing.assert_close((scores - (m + total.log())).exp(), scores.softmax(1))
    assert said(KATA, "multiply ℓ and o by exp(m − m')", "In the end o / ℓ is the output", "each weight is exp(s − L)")


def test_rotated_scores_depend_on_the_offset_alone() -> None:
    def rotated(x: Tensor, position: int) -> Tensor:
        c, s = math.cos(0.3 * position), math.sin(0.3 * position)
        return torch.tensor([[c, -s], [s, c]], dtype=torch.float64) @ x

    q, k = normal(2, 2)
    for i, j in ((0, 3), (5, 8), (9, 2)):
        torch.testing.assert_close(rotated(q, i) @ rotated(k, j), q @ rotated(k, j - i))
        torch.testing.assert_close(rotated(q, i).norm(), q.norm())
    assert said(KATA, "(R_i q) · (R_j k) = q · (R_{j−i} k)")


def test_reach_of_windows_over_layers() -> None:
    w, S, layers = 3, 20, 4
    window = torch.ones(S, S).tril() - torch.ones(S, S).tril(-w)
    assert S - 1 - torch.linalg.matrix_power(window, layers)[-1].nonzero().min() == layers * (w - 1)
