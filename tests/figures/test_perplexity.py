"""The figures of perplexity's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import said

KATA = "perplexity"


def test_three_tokens() -> None:
    assert math.log(2) + math.log(4) + math.log(8) == 6 * math.log(2)
    assert said(KATA, "(log 2 + log 4 + log 8) / 3 = (6 log 2) / 3 = 2 log 2")


def test_a_token_that_does_not_exist_raises_index_error() -> None:
    with pytest.raises(IndexError):
        F.cross_entropy(torch.randn(2, 3), torch.tensor([0, 3]))
    assert said(KATA, "torch raises IndexError on the CPU")
