"""The figures that instance_norm's texts state."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "instance_norm"
(FOUND,) = katas.find([KATA], ROOT)
instance_norm = load_module(FOUND.reference_file, "instance_norm_of_the_figures").instance_norm
CHANNEL = torch.tensor([1.0, 3.0, 5.0, 7.0])


def test_example_by_hand() -> None:
    assert [CHANNEL.mean().item(), CHANNEL.var(correction=0).item()] == [4, 5]
    assert [f"{(value - 4) / math.sqrt(5):.4f}" for value in (1, 3)] == ["-1.3416", "-0.4472"]
    assert said(
        KATA, "(1 − 4) / √5 = −1.3416", "(3 − 4) / √5 = −0.4472", "its bias 3 · 0 + 1 = 1", "turn them into −1 and 1"
    )
    across = F.layer_norm(torch.stack([CHANNEL, torch.full((4,), 2.0)], dim=1), [2], eps=0.0)
    assert across[0].tolist() == [-1, 1]
    assert f"{(CHANNEL.var(correction=0) / CHANNEL.var()).item():.6f}" == f"{3 / 4:.6f}"
    assert said(KATA, "For four positions the result is √(3/4) of what it should be")


def test_statistics_of_the_norms() -> None:
    N, C, P = 8, 64, 32 * 32
    assert [C, N * P, N, C * P, N * C, P, N * 32, 2 * P] == [64, 8192, 8, 65536, 512, 1024, 256, 2048]
    assert said(KATA, "64 means of 8 192 values", "8 means of 65 536", "512 means of 1 024", "256 means of 2 048")
    x, weight, bias = torch.randn(2, 3, 4, 5), torch.randn(3), torch.randn(3)
    y = instance_norm(x, weight, bias)
    rows = F.batch_norm(x.reshape(1, 6, 4, 5), None, None, weight.repeat(2), bias.repeat(2), training=True)
    torch.testing.assert_close(rows.reshape(x.shape), y)
    torch.testing.assert_close(F.group_norm(x, 3, weight, bias), y)
    torch.testing.assert_close(F.layer_norm(x, [4, 5]), instance_norm(x))
    torch.testing.assert_close(instance_norm(2 * x + 3, eps=0.0), instance_norm(x, eps=0.0))
    torch.testing.assert_close(y.mean((2, 3)), bias.expand(2, 3), atol=1e-5, rtol=1e-4)
    assert said(KATA, "If a channel a is replaced by 2a + 3", "the average over its positions is β")
    texts = torch.randn(2, 6, 5)
    torch.testing.assert_close(torch.nn.InstanceNorm1d(6)(texts), F.layer_norm(texts, [5]))
    assert not [*torch.nn.InstanceNorm2d(3).state_dict()]


def test_padding_and_forecasts() -> None:
    padded = torch.cat([CHANNEL, torch.zeros(4)])
    assert [padded.mean().item(), padded.var(correction=0).item()] == [2, 6.5]
    assert [f"{level + 2 * math.sqrt(5):.2f}" for level in (104, 4)] == ["108.47", "8.47"]
    assert said(KATA, "the mean 2 and the variance 6.5", "104 + 2 · √5 = 108.47 in the one case and 8.47 in the other")


def test_sizes_and_digits() -> None:
    assert (256 / 2**8, 1024 * 1024, torch.finfo(torch.float16).max) == (1, 1_048_576, 65_504)
    assert said(KATA, "256 × 256 halved eight times is 1 × 1", "float16 ends at 65 504", "P = 1 048 576 overflows")
    assert f"{math.ulp(1e12):.5f}" == "0.00012"
    assert said(KATA, "two numbers of about 10¹² from each other, which float64 stores in steps of 0.00012")
