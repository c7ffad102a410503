"""No loop: a table of discounts in each episode. The sign of the advantage says which bound counts."""
import torch

def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    B, T = rewards.shape
    if values.shape != (B, T) or dones.shape != (B, T) or last_value.shape != (B,):
        raise ValueError(f"got {rewards.shape} {values.shape} {dones.shape} {last_value.shape}")
    for name, x in {"gamma": gamma, "lam": lam}.items():
        if x < 0 or x > 1:
            raise ValueError(name)
    with torch.no_grad():
        live = torch.where(dones.bool(), 0.0, 1.0).to(values.dtype)
        v = torch.cat((values, last_value.unsqueeze(1)), 1)
        delta = rewards + gamma * live * v[:, 1:] - v[:, :-1]
        i = torch.arange(T, device=values.device)
        steps = (i[None, :] - i[:, None])
        power = torch.where(steps >= 0, (gamma * lam) ** steps.clamp(min=0).to(values.dtype), 0.0)
        ended = (dones.bool()).long().cumsum(1)
        before = ended - dones.bool().long()  # ends before step
        same = before[:, None, :] == before[:, :, None]
        adv = (power * same * delta[:, None, :]).sum(-1)
    return adv, adv + values.detach()

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    for x in (old_logp, advantages) + ((mask,) if mask is not None else ()):
        if tuple(x.shape) != tuple(logp.shape):
            raise ValueError("shapes should be equal")
    if not clip_eps > 0:
        raise ValueError("clip_eps > 0")
    m = torch.ones_like(logp, dtype=torch.bool) if mask is None else mask
    A = torch.where(m, advantages, torch.zeros_like(advantages)).detach()
    d = torch.where(m, logp, 0.0) - torch.where(m, old_logp, 0.0).detach()
    r = d.exp()
    bound = torch.where(A >= 0, r.clamp(max=1 + clip_eps), r.clamp(min=1 - clip_eps))
    return -(bound * A).sum() / m.sum()

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    for x in (old_values, returns) + ((mask,) if mask is not None else ()):
        if tuple(x.shape) != tuple(values.shape):
            raise ValueError("shapes should be equal")
    if not clip_eps > 0:
        raise ValueError("clip_eps > 0")
    m = torch.ones_like(values, dtype=torch.bool) if mask is None else mask
    v, o, R = (torch.where(m, x, 0.0) for x in (values, old_values.detach(), returns.detach()))
    c = torch.minimum(torch.maximum(v, o - clip_eps), o + clip_eps)
    a, b = (v - R).abs(), (c - R).abs()
    worst = torch.where(a >= b, a, b)
    return (worst * worst).sum() / (2 * m.sum())
