"""The figures that moco's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "moco"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "moco_of_the_figures")
K = 65_536


def test_example_by_hand() -> None:
    query, key = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[3.0, 4.0], [4.0, 3.0]])
    queue = torch.tensor([[0.0, 2.0], [-5.0, 0.0]])
    assert F.cosine_similarity(query, key).tolist() == pytest.approx([0.6, 0.6])
    assert F.cosine_similarity(query[:, None], queue, dim=2).tolist() == [[0, -1], [1, 0]]
    first = math.log(math.exp(1.2) + math.exp(0) + math.exp(-2)) - 1.2
    second = math.log(math.exp(1.2) + math.exp(2) + math.exp(0)) - 1.2
    assert [f"{x:.4f}" for x in (first, second, (first + second) / 2)] == ["0.2941", "1.2604", "0.7773"]
    assert REFERENCE.moco_loss(query, key, queue, 0.5).item() == pytest.approx((first + second) / 2)
    assert said(KATA, "log(e^1.2 + e⁰ + e⁻²) − 1.2 = 0.2941", "log(e^1.2 + e² + e⁰) − 1.2 = 1.2604", "is 0.7773")


def test_example_of_the_update_and_the_queue() -> None:
    assert 0.75 * 1 + 0.25 * 3 == 1.5
    rows = {number % 3: 10 + number for number in range(4)}
    assert [rows[row] for row in range(3)] == [13, 11, 12]
    assert [number % 3 for number in (5, 6, 7)] == [2, 0, 1]
    assert said(KATA, "0.75 · 1 + 0.25 · 3 = 1.5", "go to rows 0, 1, 2 and 0", "5, 6 and 7, and go to rows 2, 0 and 1")


def test_rows_of_other_lengths_are_within_the_factor_and_exp_overflows() -> None:
    assert torch.tensor(1 / 1e-3, dtype=torch.float64).exp().isinf()
    assert said(KATA, "the temperature may be 1e-3, where exp(1/τ) overflows")


def test_age_of_the_queue() -> None:
    assert K / 256 == 256
    assert f"{0.999**256:.0%}" == "77%"
    assert said(KATA, "77 % of what it was over 256 steps, which is how far 65 536 keys from batches of 256 reach back")


def test_memory_of_queue_logits_and_broadcast_pairs() -> None:
    sizes = [K * 128 * 4 / 1e6, 256 * (K + 1) * 4 / 1e6, 256 * K * 128 * 4 / 1e9]
    assert [f"{size:.0f}" for size in sizes[:2]] + [f"{sizes[2]:.1f}"] == ["34", "67", "8.6"]
    assert said(KATA, "65 536 keys of 128 numbers are 34 MB", "256 × 65 537 of them, take 67 MB", "would take 8.6 GB")


def test_loss_with_its_own_keys_in_the_queue() -> None:
    x = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).Q
    least = REFERENCE.moco_loss(x, x, x, 1e-3)
    torch.testing.assert_close(least, torch.tensor(math.log(2), dtype=torch.float64))
    assert f"{math.log(2):.2f}" == "0.69"
    assert said(KATA, "the loss never falls below log 2 = 0.69", "stays above 0.69")


def test_queue_that_is_written_before_the_backward_pass() -> None:
    queue, query = torch.ones(3, 2), torch.ones(4, 2, requires_grad=True)
    loss = (query @ queue.detach().T).sum()
    queue[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()  # type: ignore[no-untyped-call]
    loss = REFERENCE.moco_loss(query, torch.ones(4, 2), queue)
    queue[0] = 3
    loss.backward()
    assert said(KATA, "gradient computation has been modified by an inplace operation", "shares the memory")


def test_share_of_the_positive_among_zeros() -> None:
    share = math.exp(0.9 / 0.07) / (math.exp(0.9 / 0.07) + K)
    assert f"{share:.0%}" == "85%"
    loss = REFERENCE.moco_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.9, math.sqrt(0.19)]]), torch.zeros(K, 2))
    assert loss.item() == pytest.approx(-math.log(share), rel=1e-3)
    assert said(KATA, "at τ = 0.07, a positive of cosine 0.9 against 65 536 of them has already 85 % of the softmax")


def test_loss_of_equal_cosines() -> None:
    assert f"{math.log(1 + K):.2f}" == "11.09"
    assert said(KATA, "log(1 + K), which is 11.09 for K = 65 536", "by its first 256 steps")


def test_average_in_bfloat16_stands_still() -> None:
    ends = {}
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        k, q = torch.ones(1, dtype=dtype), torch.full((1,), 1.5, dtype=dtype)
        for _ in range(1000):
            REFERENCE.momentum_update_([k], [q])
        ends[dtype] = k.item()
    assert ends[torch.bfloat16] == 1
    assert f"{ends[torch.float32]:.3f}" == "1.316"
    assert abs(ends[torch.float16] - ends[torch.float32]) > 0.1
    assert f"{torch.finfo(torch.bfloat16).eps:.4f}" == "0.0078"
    assert pytest.approx(0.0005) == (1 - 0.999) * 0.5
    assert said(KATA, "are 0.0078 apart, and a step from 1 towards 1.5 is 0.0005", "float32 arrives at 1.316")


def test_half_life_of_the_key_encoder() -> None:
    assert f"{math.log(0.5) / math.log(0.999):.0f} {0.999**1000:.0%}" == "693 37%"
    assert said(KATA, "halved after 693 steps", "still counts 37 % after 1 000")


def test_false_negatives_of_the_queue() -> None:
    assert f"{K / 1000:.0f} {K / 1.28e6:.0%}" == "66 5%"
    assert said(KATA, "about 66 of 65 536 keys", "the queue holds 5 % of ImageNet's 1.28 million images")


def test_keys_that_broadcast_would_be_written() -> None:
    for shape in ((2, 1), (3,)):
        queue = torch.zeros(4, 3)
        queue[torch.arange(2)] = torch.ones(shape)
        assert queue.sum() == 6
        with pytest.raises(ValueError, match="keys should be"):
            REFERENCE.FeatureQueue(3, 4).enqueue(torch.ones(shape))
    assert said(KATA, "a key of (dim,) or (B, 1) fills whole rows of the queue")
