"""Cross-entropy of tokens, and binary cross-entropy with soft targets."""

import torch
import torch.nn.functional as F

def sequence_logp(logits, labels, ignore_index=-100):
    assert logits.dim() == 3 and labels.dim() == 2 and logits.shape[:2] == labels.shape
    y = labels[:, 1:]
    ok = (y == ignore_index) | ((0 <= y) & (y < logits.shape[2]))
    assert bool(ok.all()), "labels"
    z = logits[:, :-1].transpose(1, 2)
    return F.cross_entropy(z, y, ignore_index=ignore_index, reduction="none").sum(1).neg()

def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0, reduction="mean"):
    assert policy_chosen.shape == policy_rejected.shape == ref_chosen.shape == ref_rejected.shape
    assert beta > 0
    assert 0.0 <= label_smoothing <= 0.5
    assert reduction in {"mean", "sum", "none"}
    z = beta * (policy_chosen - ref_chosen.detach() - policy_rejected + ref_rejected.detach())
    return F.binary_cross_entropy_with_logits(z, torch.full_like(z, 1 - label_smoothing), reduction=reduction)
