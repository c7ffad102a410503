"""As a trainer writes it: torch.where before exp, a float mask after it."""

from typing import Optional
import torch
from torch import Tensor

def group_advantages(rewards: Tensor, eps: float = 1e-6, scale: bool = True) -> Tensor:
    if rewards.dim() != 2 or rewards.size(1) < 2:
        raise ValueError("at least two samples per prompt")
    r = rewards - rewards[:, :1]
    mean = r.mean(dim=1, keepdim=True)
    adv = r - mean
    if scale:
        adv = adv / (r.std(dim=1, keepdim=True) + eps)
    return adv

def grpo_loss(logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, ref_logp: Optional[Tensor] = None,
              clip_eps: float = 0.2, kl_coef: float = 0.0, aggregate: str = "sequence") -> Tensor:
    if logp.dim() != 2 or logp.shape != old_logp.shape or logp.shape != mask.shape:
        raise ValueError("logp, old_logp and mask")
    if advantages.shape != logp.shape[:1]:
        raise ValueError("advantages")
    if ref_logp is not None and ref_logp.shape != logp.shape:
        raise ValueError("ref_logp")
    if clip_eps <= 0 or kl_coef < 0:
        raise ValueError("clip_eps, kl_coef")
    if kl_coef > 0 and ref_logp is None:
        raise ValueError("kl_coef without ref_logp")
    if aggregate not in ("sequence", "token"):
        raise ValueError("aggregate")
    zero = torch.zeros_like(logp)
    log_ratio = torch.where(mask, logp - old_logp.detach(), zero)
    coef_1 = torch.exp(log_ratio)
    coef_2 = torch.clamp(coef_1, 1 - clip_eps, 1 + clip_eps)
    adv = advantages.detach().unsqueeze(1)
    per_token_loss = -torch.min(coef_1 * adv, coef_2 * adv)
    if kl_coef != 0.0:
        d = torch.where(mask, ref_logp.detach() - logp, zero)
        per_token_loss = per_token_loss + kl_coef * (torch.exp(d) - d - 1)
    print("clip fraction", ((coef_1 != coef_2) & mask).sum() / mask.sum())
    m = mask.to(logp.dtype)
    if aggregate == "sequence":
        return ((per_token_loss * m).sum(-1) / m.sum(-1)).mean()
    return (per_token_loss * m).sum() / m.sum()
