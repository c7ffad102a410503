"""The returns first, by a recursion of their own. The losses as weighted sums."""
import torch
from torch import Tensor

def gae(rewards: Tensor, values: Tensor, last_value: Tensor, dones: Tensor, gamma: float = 0.99, lam: float = 0.95):
    if not (rewards.shape == values.shape == dones.shape and len(rewards.shape) == 2):
        raise ValueError("rewards, values and dones should be (B, T)")
    if last_value.shape != (len(rewards),):
        raise ValueError("last_value should be (B,)")
    if not (0.0 <= gamma <= 1.0) or not (0.0 <= lam <= 1.0):
        raise ValueError("gamma and lam should be in [0, 1]")
    go_on = gamma * (1 - dones.to(values))
    v = values.detach()
    target = last_value.detach()
    ahead = last_value.detach()
    out = []
    for r, g, v_t in zip(*(x.detach().unbind(1)[::-1] for x in (rewards, go_on, v))):
        target = r + g * ((1 - lam) * ahead + lam * target)
        ahead = v_t
        out.insert(0, target)
    returns = torch.stack(out, 1)
    return returns - v, returns

def _weights(mask, x):
    return torch.full_like(x, 1 / x.numel()) if mask is None else mask.to(x.dtype) / mask.sum().to(x.dtype)

def _same(mask, *xs):
    shapes = {tuple(x.shape) for x in xs} | ({tuple(mask.shape)} if mask is not None else set())
    if len(shapes) > 1:
        raise ValueError(f"shapes should be equal, got {shapes}")
    return xs if mask is None else tuple(x.masked_fill(mask.logical_not(), 0) for x in xs)

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    if clip_eps <= 0:
        raise ValueError("clip_eps should be positive")
    logp, old_logp, advantages = _same(mask, logp, old_logp, advantages)
    ratio = (logp - old_logp.detach()).exp()
    A = advantages.detach()
    gain = A.relu() * ratio.clamp(max=1 + clip_eps) - (-A).relu() * ratio.clamp(min=1 - clip_eps)
    return -(gain * _weights(mask, gain)).sum()

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    if clip_eps <= 0:
        raise ValueError("clip_eps should be positive")
    v, o, R = _same(mask, values, old_values, returns)
    o, R = o.detach(), R.detach()
    c = o + (v - o).clamp(-clip_eps, clip_eps)
    worse = torch.stack([(v - R).square(), (c - R).square()]).amax(0)
    return (worse * _weights(mask, worse)).sum() / 2
