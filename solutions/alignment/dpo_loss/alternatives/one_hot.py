"""In float64: a one-hot table for the labels, and logaddexp for the loss."""

import torch
import torch.nn.functional as F

def sequence_logp(logits, labels, ignore_index=-100):
    if logits.dim() != 3 or labels.shape != logits.shape[:2]:
        raise ValueError("shapes")
    x, y = logits[:, :-1].double(), labels[:, 1:]
    real = y.ne(ignore_index)
    if (y[real] < 0).any() or (y[real] >= logits.size(2)).any():
        raise ValueError("labels")
    one_hot = F.one_hot(torch.where(real, y, 0), logits.size(2)).to(x.dtype)
    top = x.amax(-1, keepdim=True).detach()
    logp = (x - top) - (x - top).exp().sum(-1, keepdim=True).log()
    return ((one_hot * logp).sum(-1) * real).sum(-1).to(logits.dtype)

def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0, reduction="mean"):
    args = [policy_chosen, policy_rejected, ref_chosen.detach(), ref_rejected.detach()]
    if any(a.shape != policy_chosen.shape for a in args):
        raise ValueError("all four should have one shape")
    if not beta > 0:
        raise ValueError("beta > 0")
    if not 0 <= label_smoothing <= 0.5:
        raise ValueError("label_smoothing")
    pc, pr, rc, rr = (a.double() for a in args)
    z = beta * ((pc - pr) - (rc - rr))
    zero = torch.zeros_like(z)
    losses = (1 - label_smoothing) * torch.logaddexp(zero, -z) + label_smoothing * torch.logaddexp(zero, z)
    match reduction:
        case "mean":
            out = losses.mean()
        case "sum":
            out = losses.sum()
        case "none":
            out = losses
        case _:
            raise ValueError(f"unknown reduction {reduction}")
    return out.to(policy_chosen.dtype)
