"""The figures that mutual_information's texts state."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.figures import normal, reference_of, said

KATA = "mutual_information"
REFERENCE = reference_of(KATA)


def test_dependence_without_correlation() -> None:
    xor_by_pair = torch.tensor([[1.0, 0, 0, 1], [0, 1, 1, 0]]).double() / 4
    assert abs(REFERENCE.mutual_information(xor_by_pair, 2) - 1) < 1e-12
    assert said(KATA, "2 good of 5, 4 of 4, and 3 of 5")  # as the table of the gain has them


def test_bias_of_counts() -> None:
    cells = torch.randint(100, (400, 1000), generator=torch.Generator().manual_seed(1))
    tables = F.one_hot(cells, 100).sum(1).double().view(400, 10, 10) / 1000
    mean = torch.stack([REFERENCE.mutual_information(table) for table in tables]).mean()
    assert abs(mean - 81 / 2000) < 0.003


def test_detached_marginals() -> None:
    joint = normal(20).softmax(0).view(4, 5).requires_grad_()
    terms = joint * (joint / (joint.sum(1, keepdim=True) * joint.sum(0)).detach()).log()
    detached, whole = (torch.autograd.grad(one.sum(), joint)[0] for one in (terms, REFERENCE.mutual_information(joint)))
    assert (detached - whole - 2).abs().max() < 1e-9
    assert said(KATA, "If the marginals are detached, the gradient of I is greater by 2 in each cell")
