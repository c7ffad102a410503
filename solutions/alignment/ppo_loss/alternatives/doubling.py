"""A scan that doubles its steps. The losses take indices of real tokens, and say where the gradient stops."""
import torch

def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    shape = rewards.shape
    if len(shape) != 2 or values.shape != shape or dones.shape != shape or last_value.shape != shape[:1]:
        raise ValueError("shape")
    if min(gamma, lam) < 0 or max(gamma, lam) > 1:
        raise ValueError("gamma or lam")
    rewards, values, last_value = (x.detach() for x in (rewards, values, last_value))
    alive = 1 - dones.type_as(values)
    nxt = torch.cat([values[:, 1:], last_value[:, None]], dim=-1)
    a = rewards + gamma * nxt * alive - values
    c = gamma * lam * alive
    k = 1
    while k < shape[1]:
        pad_a = torch.zeros_like(a[:, :k])
        later_a, later_c = torch.cat([a[:, k:], pad_a], 1), torch.cat([c[:, k:], pad_a], 1)
        a, c = a + c * later_a, c * later_c
        k *= 2
    return a, a + values

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    if logp.size() != old_logp.size() or logp.size() != advantages.size():
        raise ValueError("size")
    if mask is not None and mask.size() != logp.size():
        raise ValueError("mask size")
    if clip_eps <= 0:
        raise ValueError("clip_eps")
    if mask is not None:
        where = mask.flatten().nonzero().squeeze(1)
        logp, old_logp, advantages = (x.flatten()[where] for x in (logp, old_logp, advantages))
    A, old = advantages.detach(), old_logp.detach()
    ratio = (logp - old).exp()
    low, high = 1 - clip_eps, 1 + clip_eps
    stopped = ((A > 0) & (ratio > high)) | ((A < 0) & (ratio < low))
    edge = torch.where(A > 0, torch.full_like(A, high), torch.full_like(A, low))
    return (torch.where(stopped, edge, ratio) * -A).mean()

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    if values.size() != old_values.size() or values.size() != returns.size():
        raise ValueError("size")
    if mask is not None and mask.size() != values.size():
        raise ValueError("mask size")
    if clip_eps <= 0:
        raise ValueError("clip_eps")
    if mask is not None:
        where = mask.flatten().nonzero().squeeze(1)
        values, old_values, returns = (x.flatten()[where] for x in (values, old_values, returns))
    R, old = returns.detach(), old_values.detach()
    far = (values - old).abs() > clip_eps
    clipped = torch.where(far, old + clip_eps * (values - old).detach().sign(), values)
    return torch.maximum((values - R).pow(2), (clipped - R).pow(2)).mean().mul(0.5)
