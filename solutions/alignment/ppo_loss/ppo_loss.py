"""Proximal policy optimisation by hand. Statement: katas/alignment/ppo_loss/README.md."""

import torch
from torch import Tensor


def gae(
    rewards: Tensor, values: Tensor, last_value: Tensor, dones: Tensor, gamma: float = 0.99, lam: float = 0.95
) -> tuple[Tensor, Tensor]:
    """A_t = δ_t + γ λ (1 − d_t) A_{t+1},  δ_t = r_t + γ (1 − d_t) V_{t+1} − V_t

    Args:
        rewards: r, (B, T), of T steps in each of B episodes.
        values: V, (B, T), of the states before the steps.
        last_value: V_T, (B,), of the state after the last step.
        dones: d, (B, T), bool, integer or floating: 1 where the episode ends with this step.
        gamma: γ, the discount, from 0 to 1.
        lam: λ, from 0 to 1.
    Returns: advantages A and returns A + V, each (B, T), in the dtype of rewards, without a graph.
    Raises: ValueError if the shapes disagree, or gamma or lam is outside [0, 1].
    Source: arXiv:1506.02438, eq. 16, with the ends of episodes.
    """
    # --- solution
    # TODO: refuse shapes that disagree, and gamma or lam outside [0, 1].
    # TODO: δ of every step; the value after a step is 0 if the episode ends with it.
    # TODO: add up backwards, from the last step to the first.
    # TODO: then make it robust: the results have no graph, and dones may be bool or integers.
    if rewards.dim() != 2 or values.shape != rewards.shape or dones.shape != rewards.shape:
        raise ValueError("rewards, values and dones should have one shape, (B, T)")
    if last_value.shape != rewards.shape[:1]:
        raise ValueError(f"last_value should have one value for each episode, got {tuple(last_value.shape)}")
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma should be from 0 to 1, got {gamma}")
    if not 0 <= lam <= 1:
        raise ValueError(f"lam should be from 0 to 1, got {lam}")
    with torch.no_grad():
        alive = 1 - dones.to(rewards.dtype)
        following = torch.cat([values[:, 1:], last_value[:, None]], dim=1)  # (B, T)
        delta = rewards + gamma * alive * following - values
        advantages = torch.zeros_like(delta)
        running = torch.zeros_like(last_value)
        for t in reversed(range(rewards.shape[1])):
            running = delta[:, t] + gamma * lam * alive[:, t] * running
            advantages[:, t] = running
        return advantages, advantages + values
    # --- end


def ppo_policy_loss(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, clip_eps: float = 0.2, mask: Tensor | None = None
) -> Tensor:
    """The mean over tokens of −min(ρ A, clip(ρ, 1 − ε, 1 + ε) A),  ρ = exp(logp − old_logp)

    Args:
        logp: of any shape, the log-probability of each token under the policy.
        old_logp: same shape, under the policy that wrote the tokens.
        advantages: A, same shape.
        clip_eps: ε > 0.
        mask: same shape, bool. True is a real token, False is padding; None: all are real.
    Returns: a scalar, in the dtype of logp. Only logp gets a gradient.
    Raises: ValueError if the shapes differ, or clip_eps <= 0.
    Source: arXiv:1707.06347, eq. 7, with a minus.
    """
    # --- solution
    # TODO: refuse shapes that differ, and clip_eps of 0 or less.
    # TODO: the ratio, and the smaller of two products.
    # TODO: the mean over real tokens.
    # TODO: then make it robust: constants get no gradient, and padding may hold NaN.
    if any(x is not None and x.shape != logp.shape for x in (old_logp, advantages, mask)):
        raise ValueError("logp, old_logp, advantages and mask should have one shape")
    if clip_eps <= 0:
        raise ValueError(f"clip_eps should be above 0, got {clip_eps}")
    if mask is not None:
        logp, old_logp, advantages = logp[mask], old_logp[mask], advantages[mask]
    ratio = (logp - old_logp.detach()).exp()
    advantages = advantages.detach()
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()
    # --- end


def ppo_value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, clip_eps: float = 0.2, mask: Tensor | None = None
) -> Tensor:
    """The mean over tokens of ½ max((v − R)², (c − R)²),  c = o + clip(v − o, −ε, ε)

    Args:
        values: v, of any shape, what the value model predicts now.
        old_values: o, same shape, what it predicted when the tokens were written.
        returns: R, same shape.
        clip_eps: ε > 0.
        mask: same shape, bool. True is a real token, False is padding; None: all are real.
    Returns: a scalar, in the dtype of values. Only values gets a gradient.
    Raises: ValueError if the shapes differ, or clip_eps <= 0.
    Source: OpenAI's baselines, ppo2, which the paper does not mention.
    """
    # --- solution
    # TODO: refuse shapes that differ, and clip_eps of 0 or less.
    # TODO: the clipped prediction, and the larger of two squares.
    # TODO: the mean over real tokens.
    # TODO: then make it robust, as in the policy's loss.
    if any(x is not None and x.shape != values.shape for x in (old_values, returns, mask)):
        raise ValueError("values, old_values, returns and mask should have one shape")
    if clip_eps <= 0:
        raise ValueError(f"clip_eps should be above 0, got {clip_eps}")
    if mask is not None:
        values, old_values, returns = values[mask], old_values[mask], returns[mask]
    old, returns = old_values.detach(), returns.detach()
    near = old + (values - old).clamp(-clip_eps, clip_eps)
    return torch.maximum((values - returns).square(), (near - returns).square()).mean() / 2
    # --- end
