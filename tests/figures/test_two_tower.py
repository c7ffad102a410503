"""The figures of two_tower's texts, calculated again."""

from __future__ import annotations

import torch

from tests.figures import normal, said
from tests.figures.asked import inputs_of

KATA = "two_tower"


def test_what_the_scores_converge_to() -> None:
    """Candidates weighted by q, as batches weigh them: the gradient is 0 where the text says."""
    p, q = normal(2, 6).softmax(1)
    for scores, correction in (((p / q).log() + 3, 0), (p.log() + 3, q.log())):
        scores.requires_grad_()
        logits = scores - correction
        loss = (q * logits.exp()).sum().log() - (p * logits).sum()
        assert torch.autograd.grad(loss, scores)[0].abs().max() < 1e-12
    assert said(KATA, "to log(p(j | i) / q_j) plus a constant", "the scores converge to log p(j | i)")
    assert 2 / 0.5 < 13.82
    assert said(KATA, "with τ = 0.5", "at τ = 0.05 it would count twenty times")
    assert torch.cat([one["log_q"] for one in inputs_of(KATA)["rare_items"]]).max() > 0
