"""A module; the larger of two losses; policy and KL term are averaged separately."""

import torch
from torch import nn

class GRPOLoss(nn.Module):
    def __init__(self, clip_eps, kl_coef, aggregate):
        super().__init__()
        if clip_eps <= 0:
            raise ValueError(f"clip_eps should be > 0, got {clip_eps}")
        if kl_coef < 0:
            raise ValueError(f"kl_coef should be >= 0, got {kl_coef}")
        if aggregate not in ("sequence", "token"):
            raise ValueError(f"unknown aggregate {aggregate!r}")
        self.low, self.high = 1 - clip_eps, 1 + clip_eps
        self.kl_coef, self.aggregate = kl_coef, aggregate

    def mean(self, x, mask):
        if self.aggregate == "token":
            return x.sum() / mask.sum()
        return (x.sum(dim=1) / mask.sum(dim=1)).mean()

    def forward(self, logp, old, adv, mask, ref):
        if old.shape != logp.shape or mask.shape != logp.shape or adv.shape != (logp.shape[0],):
            raise ValueError("shapes")
        with torch.no_grad():
            old = torch.where(mask, old, 0.0)
            adv = adv.unsqueeze(-1).clone()
        new = torch.where(mask, logp, 0.0)
        ratio = torch.exp(new - old)
        policy = torch.maximum(-adv * ratio, -adv * torch.clamp(ratio, min=self.low, max=self.high))
        loss = self.mean(torch.where(mask, policy, 0.0), mask)
        if ref is not None and ref.shape != logp.shape:
            raise ValueError("ref_logp")
        if self.kl_coef > 0:
            if ref is None:
                raise ValueError("no ref_logp")
            delta = torch.where(mask, ref.detach(), 0.0) - new
            loss = loss + self.kl_coef * self.mean(delta.exp() - delta - 1, mask)
        return loss

def group_advantages(rewards, eps=1e-6, scale=True):
    if rewards.shape[1] < 2:
        raise ValueError("G < 2")
    r = rewards - rewards.amin(dim=1, keepdim=True)
    a = r - r.mean(dim=1, keepdim=True)
    return a / (a.std(dim=1, keepdim=True) + eps) if scale else a

def grpo_loss(logp, old_logp, advantages, mask, ref_logp=None, clip_eps=0.2, kl_coef=0.0, aggregate="sequence"):
    return GRPOLoss(clip_eps, kl_coef, aggregate)(logp, old_logp, advantages, mask, ref_logp)
