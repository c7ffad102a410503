"""The figures that moco's texts state."""

from __future__ import annotations

import math

import pytest
import torch

from tests.figures import normal, reference_of, said

KATA = "moco"
REFERENCE = reference_of(KATA)
K = 65_536


def test_keys_that_broadcast_would_be_written() -> None:
    for shape in ((2, 1), (3,)):
        queue = torch.zeros(4, 3)
        queue[torch.arange(2)] = torch.ones(shape)
        assert queue.sum() == 6
        with pytest.raises(ValueError, match="keys should be"):
            REFERENCE.FeatureQueue(3, 4).enqueue(torch.ones(shape))
    assert said(KATA, "keys of (dim,) or (B, 1) may fill whole rows of the queue")


def test_loss_with_its_own_keys_in_the_queue() -> None:
    x = torch.linalg.qr(normal(6, 6)).Q
    torch.testing.assert_close(REFERENCE.moco_loss(x, x, x, 1e-3), torch.tensor(math.log(2)).double())


def test_queue_that_is_written_before_the_backward_pass() -> None:
    queue, query = torch.ones(3, 2), torch.ones(4, 2, requires_grad=True)
    products, loss = query @ queue.detach().T, REFERENCE.moco_loss(query, torch.ones(4, 2), queue)
    queue[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(products.sum(), query)
    torch.autograd.grad(loss, query)
    assert said(KATA, "gradient computation has been modified by an inplace operation", "shares the memory")


def test_average_in_bfloat16_stands_still() -> None:
    ends = []
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        k, q = torch.ones(1, dtype=dtype), torch.full((1,), 1.5, dtype=dtype)
        for _ in range(1000):
            REFERENCE.momentum_update_([k], [q])
        ends.append(k.item())
    assert (ends[0], f"{ends[2]:.3f}") == (1, "1.316")
    assert abs(ends[1] - ends[2]) > 0.1
    assert said(KATA, "float32 arrives at 1.316", "by its first 256 steps")
