import torch

def group_advantages(rewards, eps=1e-6, scale=True):
    adv = rewards - rewards.mean(dim=1, keepdim=True)
    if scale:
        adv = adv / (rewards.std(dim=1, keepdim=True) + eps)
    return adv

def grpo_loss(logp, old_logp, advantages, mask, ref_logp=None, clip_eps=0.2, kl_coef=0.0, aggregate="sequence"):
    ratio = torch.exp(logp - old_logp)
    clipped = torch.clamp(ratio, 1 - clip_eps, 1 + clip_eps)
    adv = advantages.unsqueeze(1)
    loss = -torch.min(ratio * adv, clipped * adv)
    if ref_logp is not None:
        kl = torch.exp(ref_logp - logp) - (ref_logp - logp) - 1
        loss = loss + kl_coef * kl
    if aggregate == "sequence":
        return ((loss * mask).sum(1) / mask.sum(1)).mean()
    return (loss * mask).sum() / mask.sum()
