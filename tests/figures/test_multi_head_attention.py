"""The figures in the texts of multi_head_attention, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import normal, said

KATA = "multi_head_attention"


def test_adding_minus_infinity_brings_nan_back_into_the_gradient() -> None:
    scores, blocked = torch.zeros(2, requires_grad=True), torch.tensor([True, True])
    added = (scores + torch.zeros(2).masked_fill(blocked, -torch.inf)).softmax(0).nan_to_num()
    assert torch.autograd.grad(added.sum(), scores)[0].isnan().all()
    filled = scores.masked_fill(blocked, -torch.inf).softmax(0).nan_to_num()
    assert torch.autograd.grad(filled.sum(), scores)[0].tolist() == [0, 0]
    assert said(KATA, "0 · NaN is NaN", "adding a mask of −inf does not")


@pytest.mark.parametrize("queries", [3, 1])
def test_causal_attention_of_torch_aligns_the_first_query_with_the_first_key(queries: int) -> None:
    q, k = normal(1, queries, 4), normal(1, 5, 4)
    plain, shifted = (torch.ones(queries, 5, dtype=torch.bool).tril(diagonal) for diagonal in (0, 5 - queries))
    builtin = F.scaled_dot_product_attention(q, k, k, is_causal=True)
    torch.testing.assert_close(builtin, F.scaled_dot_product_attention(q, k, k, plain))
    assert not torch.allclose(builtin, F.scaled_dot_product_attention(q, k, k, shifted))
    assert plain[-1].sum() == queries
    assert [int(row.sum()) - 1 for row in shifted] == [i + 5 - queries for i in range(queries)]
    assert said(KATA, "with 3 queries and 5 keys the last query then misses 2 keys", "only the first key is left")


def test_scores_of_normalised_queries_and_keys_are_bounded() -> None:
    q = F.rms_norm(100 * normal(64, 128), (128,))
    assert f"{(q @ q.mT / math.sqrt(128)).max():.1f}" == "11.3"
