"""As a trainer writes it: masked means, the larger of two losses, a list of steps."""
import torch

def masked_mean(x, mask):
    if mask is None:
        return x.mean()
    return (x * mask).sum() / mask.sum()

def check(eps, mask, a, *others):
    for o in others:
        assert o.shape == a.shape, "shape"
    assert mask is None or mask.shape == a.shape
    assert eps > 0

def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    assert rewards.dim() == 2 and rewards.shape == values.shape == dones.shape
    assert last_value.shape == (rewards.size(0),)
    assert 0 <= gamma <= 1 and 0 <= lam <= 1
    rewards, values, last_value = rewards.detach(), values.detach(), last_value.detach()
    gen_length = rewards.shape[1]
    lastgaelam = 0
    advantages_reversed = []
    for t in reversed(range(gen_length)):
        nextvalues = values[:, t + 1] if t < gen_length - 1 else last_value
        nonterminal = (dones[:, t] == 0).to(values)
        delta = rewards[:, t] + gamma * nextvalues * nonterminal - values[:, t]
        lastgaelam = delta + gamma * lam * nonterminal * lastgaelam
        advantages_reversed.append(lastgaelam)
    advantages = torch.stack(advantages_reversed[::-1], dim=1)
    returns = advantages + values
    return advantages, returns

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    check(clip_eps, mask, logp, old_logp, advantages)
    if mask is not None:
        logp = logp.masked_fill(~mask, 0.0)
        old_logp = old_logp.masked_fill(~mask, 0.0)
        advantages = advantages.masked_fill(~mask, 0.0)
    ratio = torch.exp(logp - old_logp.detach())
    pg_losses = -advantages.detach() * ratio
    pg_losses2 = -advantages.detach() * torch.clamp(ratio, 1.0 - clip_eps, 1.0 + clip_eps)
    return masked_mean(torch.max(pg_losses, pg_losses2), mask)

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    check(clip_eps, mask, values, old_values, returns)
    if mask is not None:
        values = values.masked_fill(~mask, 0.0)
        old_values = old_values.masked_fill(~mask, 0.0)
        returns = returns.masked_fill(~mask, 0.0)
    old_values, returns = old_values.detach(), returns.detach()
    vpredclipped = torch.clamp(values, min=old_values - clip_eps, max=old_values + clip_eps)
    vf_losses1 = torch.square(values - returns)
    vf_losses2 = torch.square(vpredclipped - returns)
    return 0.5 * masked_mean(torch.max(vf_losses1, vf_losses2), mask)
