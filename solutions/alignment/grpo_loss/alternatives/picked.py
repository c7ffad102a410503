"""Real tokens are picked by the mask; the sign of the advantage says which bound counts."""

import torch

def group_advantages(rewards, eps=1e-6, scale=True):
    assert rewards.ndim == 2 and rewards.shape[1] >= 2
    r = rewards.double()
    a = (r - r.mean(1, keepdim=True)) * (r != r[:, -1:]).any(1, keepdim=True)
    if scale:
        a = a / (r.std(1, keepdim=True, unbiased=True) + eps)
    return a.to(rewards.dtype)

def grpo_loss(logp, old_logp, advantages, mask, ref_logp=None, clip_eps=0.2, kl_coef=0.0, aggregate="sequence"):
    assert logp.ndim == 2 and old_logp.shape == logp.shape and mask.shape == logp.shape and advantages.shape == (logp.shape[0],)
    assert ref_logp is None or ref_logp.shape == logp.shape
    assert clip_eps > 0 and kl_coef >= 0 and (kl_coef == 0 or ref_logp is not None)
    assert aggregate in ["sequence", "token"]
    N, T = logp.shape
    row = torch.arange(N, device=logp.device)[:, None].expand(N, T)[mask]
    new, old = logp[mask], old_logp[mask].detach()
    A = advantages.detach()[row]
    ratio = (new - old).exp()
    edge = torch.where(A > 0, ratio.clamp(max=1 + clip_eps), ratio.clamp(min=1 - clip_eps))
    loss = -A * edge
    if kl_coef:
        delta = ref_logp[mask].detach() - new
        loss = loss + kl_coef * (delta.expm1() - delta)
    if aggregate == "token":
        return loss.mean()
    count = mask.sum(1)[row]
    return (loss / count).sum() / N
