"""Labels are rolled instead of cut, and log σ(−z) = log σ(z) − z saves the second logarithm."""

import torch
import torch.nn.functional as F

REDUCE = {"mean": torch.mean, "sum": torch.sum, "none": lambda t: t}

def sequence_logp(logits, labels, ignore_index=-100):
    if logits.ndim != 3 or logits.shape[:2] != labels.shape:
        raise ValueError("labels should be (B, S)")
    V = logits.shape[-1]
    target = torch.roll(labels, -1, dims=1)
    use = target != ignore_index
    use[:, -1] = False
    if (use & ((target < 0) | (target >= V))).any():
        raise ValueError("label outside the vocabulary")
    target = target.where(use, torch.zeros_like(target))
    return (logits.log_softmax(-1).gather(-1, target[..., None])[..., 0] * use).sum(-1)

def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0, reduction="mean"):
    if not (policy_chosen.shape == policy_rejected.shape == ref_chosen.shape == ref_rejected.shape):
        raise ValueError("shapes differ")
    if beta <= 0:
        raise ValueError("beta")
    if label_smoothing < 0 or label_smoothing > 0.5:
        raise ValueError("label_smoothing")
    if reduction not in REDUCE:
        raise ValueError("reduction")
    ref = (ref_chosen - ref_rejected).detach()
    z = beta * (policy_chosen - policy_rejected - ref)
    # -log sigma(z) + eps * z, since log sigma(-z) = log sigma(z) - z
    return REDUCE[reduction](label_smoothing * z - F.logsigmoid(z))
