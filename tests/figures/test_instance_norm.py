"""The figures that instance_norm's texts state."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.figures import reference_of, said

KATA = "instance_norm"
instance_norm = reference_of(KATA).instance_norm
CHANNEL = torch.tensor([1.0, 3.0, 5.0, 7.0])


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
