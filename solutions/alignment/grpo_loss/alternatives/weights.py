"""One weight for each token in place of two means; padding is set to 0 in all inputs."""

import torch
import torch.nn.functional as F

def group_advantages(rewards, eps=1e-6, scale=True):
    G = rewards.shape[-1]
    if G < 2:
        raise ValueError("G should be 2 or more")
    same = (rewards == rewards[:, :1]).all(1, keepdim=True)
    centred = (rewards - rewards.mean(1, keepdim=True)).masked_fill(same, 0)
    if scale:
        centred = centred / ((centred.square().sum(1, keepdim=True) / (G - 1)).sqrt() + eps)
    return centred

def grpo_loss(logp, old_logp, advantages, mask, ref_logp=None, clip_eps=0.2, kl_coef=0.0, aggregate="sequence"):
    shape = tuple(logp.shape)
    others = [old_logp, mask] + ([] if ref_logp is None else [ref_logp])
    if len(shape) != 2 or any(tuple(o.shape) != shape for o in others) or tuple(advantages.shape) != shape[:1]:
        raise ValueError("shapes")
    if not clip_eps > 0:
        raise ValueError("clip_eps")
    if not kl_coef >= 0 or (kl_coef > 0 and ref_logp is None):
        raise ValueError("kl_coef")
    real = mask.to(logp.dtype)
    per = real / real.sum(1, keepdim=True) / len(real) if aggregate == "sequence" else real / real.sum()
    if aggregate not in {"sequence", "token"}:
        raise ValueError("aggregate")
    pad = ~mask
    logp = logp.masked_fill(pad, 0)
    ratio = (logp - old_logp.detach().masked_fill(pad, 0)).exp()
    A = advantages.detach().view(-1, 1)
    gain = torch.min(torch.stack([ratio * A, ratio.clamp(1 - clip_eps, 1 + clip_eps) * A]), 0).values
    penalty = 0
    if kl_coef > 0:
        delta = ref_logp.detach().masked_fill(pad, 0) - logp
        penalty = kl_coef * (delta.exp() - 1 - delta)
    return ((penalty - gain) * per).sum()
