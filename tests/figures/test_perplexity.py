"""The figures of perplexity's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "perplexity"


def test_three_tokens() -> None:
    assert (math.log(2) + math.log(4) + math.log(8)) / 3 == 2 * math.log(2)
    first, second = (math.log(2) + math.log(4)) / 2, math.log(8)
    assert f"{(math.exp(first) + math.exp(second)) / 2:.2f}" == "5.41"
    assert f"{math.exp((first + second) / 2):.2f}" == "4.76"
    assert said(KATA, "(log 2 + log 4 + log 8) / 3 = (6 log 2) / 3 = 2 log 2", "its exponential is 2² = 4")
    assert said(KATA, "sequences' perplexities is 5.41", "exp of the mean of their mean losses is 4.76")


def test_bits() -> None:
    assert (f"{2 ** math.log(10):.2f}", f"{math.log2(10):.2f}") == ("4.93", "3.32")
    assert said(KATA, "a perplexity of 10 becomes 4.93", "log₂ of the perplexity, 3.32 for 10")
    assert (f"{math.log2(20) / 4:.2f}", f"{math.log2(12) / 3:.2f}") == ("1.08", "1.19")
    assert said(KATA, "log₂(20) / 4 = 1.08 bits per byte and B log₂(12) / 3 = 1.19")


def test_the_factor_of_the_gradient() -> None:
    assert 50_000 / 20 == 2500
    assert said(KATA, "say 50 000, and perhaps 20 at the end, so it alone changes the size of the steps 2 500-fold")


def test_softmax_underflows_in_float32_from_104_below_the_best() -> None:
    far, not_so_far = (torch.tensor([0.0, -logit]).softmax(0)[1] for logit in (104.0, 103.0))
    assert far == 0 != not_so_far
    assert said(KATA, "in float32 it does from 104 below the best", "The softmax of a token 104 below the best is 0")


def test_half_precision() -> None:
    ten = torch.tensor(10.0, dtype=torch.bfloat16)
    assert (step := float(torch.nextafter(ten, 2 * ten) - ten)) == 0.0625
    assert f"{math.exp(step) - 1:.1%}" == "6.4%"
    assert torch.finfo(torch.float16).max == 65504
    assert f"{math.log(65504):.2f}" == "11.09"
    assert said(
        KATA, "bfloat16 numbers are 0.0625 apart, which is 6.4 %", "above 65 504, that is a mean loss above 11.09"
    )


def test_all_ignored_gives_nan_and_a_token_that_does_not_exist_an_index_error() -> None:
    assert F.cross_entropy(torch.randn(2, 3), torch.tensor([-100, -100])).isnan()
    try:
        F.cross_entropy(torch.randn(2, 3), torch.tensor([0, 3]))
    except IndexError:
        assert said(KATA, "It would be 0 / 0, and torch returns NaN", "Torch raises IndexError for others")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert round(inputs["shifted_logits"][0]["logits"].mean().item(), -2) == 800
    far = F.cross_entropy(inputs["far_tokens"][0]["logits"].mT, inputs["far_tokens"][0]["target"], reduction="none")
    assert 990 < far.max() < 1010
    assert said(KATA, "800 away from 0, or a thousand apart", "The loss of a single token may be 1000")
