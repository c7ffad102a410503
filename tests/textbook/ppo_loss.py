import torch

def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    B, T = rewards.shape
    advantages = torch.zeros_like(rewards)
    last_gae = torch.zeros(B, dtype=rewards.dtype)
    next_value = last_value
    for t in reversed(range(T)):
        not_done = 1 - dones[:, t]
        delta = rewards[:, t] + gamma * next_value * not_done - values[:, t]
        last_gae = delta + gamma * lam * not_done * last_gae
        advantages[:, t] = last_gae
        next_value = values[:, t]
    returns = advantages + values
    return advantages, returns

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    ratio = torch.exp(logp - old_logp)
    surr1 = ratio * advantages
    surr2 = torch.clamp(ratio, 1 - clip_eps, 1 + clip_eps) * advantages
    loss = -torch.min(surr1, surr2)
    if mask is None:
        return loss.mean()
    return (loss * mask).sum() / mask.sum()

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    clipped = old_values + torch.clamp(values - old_values, -clip_eps, clip_eps)
    loss = 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2)
    if mask is None:
        return loss.mean()
    return (loss * mask).sum() / mask.sum()
