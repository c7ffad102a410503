"""The figures in the texts of multi_head_attention, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from tests.figures import said

KATA = "multi_head_attention"


def test_weights_of_the_example() -> None:
    for score, weights in ((1, ["0.2689", "0.7311"]), (2, ["0.1192", "0.8808"])):
        softmax = torch.tensor([0.0, score]).softmax(0)
        assert [f"{weight:.4f}" for weight in softmax] == weights
        assert softmax[0] == pytest.approx(1 / (1 + math.exp(score)))
    assert said(KATA, "1/(1 + e) = 0.2689 and 0.7311", "1/(1 + e²) = 0.1192 and 0.8808")


def test_number_of_parameters() -> None:
    for heads in (1, 4):
        layer = torch.nn.MultiheadAttention(12, heads)
        assert sum(parameter.numel() for parameter in layer.parameters()) == 4 * 12**2 + 4 * 12
    assert said(KATA, "4·D² + 4·D, for every number of heads")


def test_memory_of_the_weights() -> None:
    assert f"{8 * 16 * 4096**2 * torch.float16.itemsize / 1e9:.1f}" == "4.3"
    assert said(KATA, "8 sequences of 4 096 tokens and 16 heads take 4.3 GB in float16")


def test_size_of_the_cache() -> None:
    numbers = 2 * 32 * 8 * 128 * 8192
    assert f"{numbers / 1e6:.0f}" == "537"
    assert f"{numbers * torch.bfloat16.itemsize / 1e9:.2f}" == "1.07"
    assert f"{numbers * torch.bfloat16.itemsize * 32 / 8 / 1e9:.2f}" == "4.29"
    assert said(KATA, "are 537 million numbers, so 1.07 GB in bfloat16 for one sequence", "it would be 4.29 GB")


@pytest.mark.parametrize("tokens", [1, 8192])
def test_operations_for_each_byte_of_weights(tokens: int) -> None:
    weight = torch.empty(64, 64, dtype=torch.bfloat16, device="meta")
    with FlopCounterMode(display=False) as counted:
        F.linear(torch.empty(tokens, 64, dtype=torch.bfloat16, device="meta"), weight)
    assert counted.get_total_flops() / (weight.numel() * weight.itemsize) == tokens
    assert said(KATA, "8 192 tokens in bfloat16 make 8 192 floating point operations", "1 operation for each byte")


@pytest.mark.parametrize(("queries", "allowed"), [(3, 3), (1, 1)])
def test_causal_attention_of_torch_aligns_the_first_query_with_the_first_key(queries: int, allowed: int) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(1, queries, 4, generator=generator), torch.randn(1, 5, 4, generator=generator)
    plain = torch.ones(queries, 5, dtype=torch.bool).tril()
    shifted = torch.ones(queries, 5, dtype=torch.bool).tril(diagonal=5 - queries)
    builtin = F.scaled_dot_product_attention(q, k, k, is_causal=True)
    torch.testing.assert_close(builtin, F.scaled_dot_product_attention(q, k, k, plain))
    assert not torch.allclose(builtin, F.scaled_dot_product_attention(q, k, k, shifted))
    assert plain[-1].sum() == allowed
    assert shifted[-1].all()
    assert [int(row.sum()) - 1 for row in shifted] == [i + 5 - queries for i in range(queries)]
    assert said(KATA, "with 3 queries and 5 keys the last query then misses 2 keys", "only the first key is left")


def test_scores_of_normalised_queries_and_keys_are_bounded() -> None:
    generator = torch.Generator().manual_seed(0)
    q = F.rms_norm(100 * torch.randn(64, 128, generator=generator), (128,))
    scores = q @ q.mT / math.sqrt(128)
    torch.testing.assert_close(q.norm(dim=-1), torch.full((64,), math.sqrt(128)))
    assert f"{scores.max():.1f}" == f"{math.sqrt(128):.1f}" == "11.3"
    assert said(KATA, "no score exceeds √d: 11.3 for d = 128")


def test_constant_that_fits_bfloat16_leaves_an_even_average() -> None:
    scores = torch.tensor([0.5, 2.0], dtype=torch.bfloat16).masked_fill(torch.tensor([True, True]), -1e9)
    assert scores.softmax(0).tolist() == [0.5, 0.5]
    assert said(KATA, "where it fits, as in bfloat16, it leaves a fully blocked row an even average")


def test_adding_minus_infinity_brings_nan_back_into_the_gradient() -> None:
    scores, blocked = torch.zeros(2, requires_grad=True), torch.tensor([True, True])
    added = (scores + torch.zeros(2).masked_fill(blocked, -torch.inf)).softmax(0).nan_to_num()
    assert torch.autograd.grad(added.sum(), scores)[0].isnan().all()
    filled = scores.masked_fill(blocked, -torch.inf).softmax(0).nan_to_num()
    assert torch.autograd.grad(filled.sum(), scores)[0].tolist() == [0, 0]
    assert said(KATA, "0 · NaN is NaN", "adding a mask of −inf does not")
