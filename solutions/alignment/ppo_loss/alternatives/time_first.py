"""Time first, masked_select, and a print in the loss."""
import torch
import torch.nn.functional as F

def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    if rewards.shape != values.shape or rewards.shape != dones.shape or rewards.shape[:-1] != last_value.shape:
        raise ValueError("shape")
    if rewards.dim() != 2:
        raise ValueError("2-D")
    if gamma < 0 or gamma > 1 or lam < 0 or lam > 1:
        raise ValueError("range")
    with torch.no_grad():
        r, v, d = rewards.T, values.T, dones.T
        advantages = torch.zeros_like(r)
        lastgaelam = torch.zeros_like(last_value)
        num_steps = len(r)
        for t in reversed(range(num_steps)):
            nextnonterminal = 1.0 - d[t].double()
            nextvalues = last_value if t == num_steps - 1 else v[t + 1]
            delta = r[t] + gamma * nextvalues * nextnonterminal - v[t]
            advantages[t] = lastgaelam = (delta + gamma * lam * nextnonterminal * lastgaelam).to(r.dtype)
        returns = advantages + v
        return advantages.T.contiguous(), returns.T.contiguous()

def _flat(mask, *xs):
    if any(x.shape != xs[0].shape for x in xs) or (mask is not None and mask.shape != xs[0].shape):
        raise ValueError("shapes")
    if mask is None:
        return [x.reshape(-1) for x in xs]
    return [torch.masked_select(x, mask) for x in xs]

def ppo_policy_loss(logp, old_logp, advantages, clip_eps=0.2, mask=None):
    if clip_eps <= 0:
        raise ValueError("clip_coef")
    newlogprob, b_logprobs, mb_advantages = _flat(mask, logp, old_logp.detach(), advantages.detach())
    logratio = newlogprob - b_logprobs
    ratio = logratio.exp()
    with torch.no_grad():
        approx_kl = ((ratio - 1) - logratio).mean()
        print("approx_kl", approx_kl.item())
    pg_loss1 = -mb_advantages * ratio
    pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - clip_eps, 1 + clip_eps)
    return torch.max(pg_loss1, pg_loss2).mean()

def ppo_value_loss(values, old_values, returns, clip_eps=0.2, mask=None):
    if clip_eps <= 0:
        raise ValueError("clip_coef")
    newvalue, b_values, b_returns = _flat(mask, values, old_values.detach(), returns.detach())
    v_loss_unclipped = F.mse_loss(newvalue, b_returns, reduction="none")
    v_clipped = b_values + torch.clamp(newvalue - b_values, -clip_eps, clip_eps)
    v_loss_clipped = (v_clipped - b_returns) ** 2
    v_loss_max = torch.max(v_loss_unclipped, v_loss_clipped)
    return 0.5 * v_loss_max.mean()
