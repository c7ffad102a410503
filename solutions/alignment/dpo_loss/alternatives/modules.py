"""Two modules: advanced indexing, and a softmax over the pair of z and 0."""

import torch
from torch import nn

class SequenceLogProb(nn.Module):
    def __init__(self, ignore_index):
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, logits, labels):
        if logits.ndim != 3 or labels.ndim != 2 or tuple(labels.shape) != tuple(logits.shape[:2]):
            raise ValueError(f"got {logits.shape} and {labels.shape}")
        B, S, V = logits.shape
        target = labels[:, 1:]
        ignored = target.eq(self.ignore_index)
        safe = target.masked_fill(ignored, 0)
        if ((safe < 0) | (safe >= V)).any():
            raise ValueError("no such token")
        logp = nn.LogSoftmax(dim=2)(logits[:, : S - 1])
        b, t = torch.arange(B, device=logits.device)[:, None], torch.arange(S - 1, device=logits.device)[None]
        return logp[b, t, safe].masked_fill(ignored, 0).sum(dim=1)

class DPO(nn.Module):
    def __init__(self, beta, eps, reduction):
        super().__init__()
        if beta <= 0:
            raise ValueError("beta should be positive")
        if eps < 0 or eps > 0.5:
            raise ValueError("label_smoothing should be in [0, 0.5]")
        if reduction not in ["mean", "sum", "none"]:
            raise ValueError("reduction")
        self.beta, self.eps, self.reduction = beta, eps, reduction

    def forward(self, pc, pr, rc, rr):
        if len({tuple(t.shape) for t in (pc, pr, rc, rr)}) > 1:
            raise ValueError("shapes differ")
        rc, rr = rc.detach(), rr.detach()
        z = self.beta * ((pc - rc) - (pr - rr))
        pair = torch.stack([z, torch.zeros_like(z)], dim=-1).log_softmax(-1)
        loss = -(1 - self.eps) * pair[..., 0] - self.eps * pair[..., 1]
        if self.reduction == "none":
            return loss
        return loss.mean() if self.reduction == "mean" else loss.sum()

def sequence_logp(logits, labels, ignore_index=-100):
    return SequenceLogProb(ignore_index)(logits, labels)

def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0, reduction="mean"):
    return DPO(beta, label_smoothing, reduction)(policy_chosen, policy_rejected, ref_chosen, ref_rejected)
