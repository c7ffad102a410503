"""Group relative policy optimisation by hand. Statement: katas/alignment/grpo_loss/README.md."""

import torch
from torch import Tensor


def group_advantages(rewards: Tensor, eps: float = 1e-6, scale: bool = True) -> Tensor:
    """A = (r − mean) / (std + ε), over the G answers to each prompt

    Args:
        rewards: r, (B, G), of G answers to each of B prompts.
        eps: ε > 0.
        scale: whether to divide by std + ε. Dr. GRPO does not.
    Returns: (B, G), in the dtype of rewards.
    Raises: ValueError if G < 2.
    Source: arXiv:2402.03300, section 4.1.2. The standard deviation divides by G − 1, as in TRL.
    """
    # --- solution
    # TODO: refuse a single answer.
    # TODO: subtract the mean of each group.
    # TODO: if scale is True, divide by the group's standard deviation plus eps.
    # TODO: then make it robust: what does rounding make of 15 equal rewards of 0.7?
    if rewards.shape[1] < 2:
        raise ValueError(f"there should be at least 2 answers to a prompt, got {rewards.shape[1]}")
    rewards = rewards - rewards[:, :1]  # equal rewards are exactly 0 now
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    return centred / (rewards.std(dim=1, keepdim=True) + eps) if scale else centred
    # --- end


def grpo_loss(
    logp: Tensor,
    old_logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    ref_logp: Tensor | None = None,
    clip_eps: float = 0.2,
    kl_coef: float = 0.0,
    aggregate: str = "sequence",
) -> Tensor:
    """The mean over real tokens of −min(ρ A, clip(ρ, 1 ± ε) A) + β (e^Δ − Δ − 1)

    Args:
        logp: (N, T), the log-probability of each token under the policy; ρ = exp(logp − old_logp).
        old_logp: (N, T), under the policy that wrote the answers.
        advantages: A, (N,), one for each answer.
        mask: (N, T), bool. True is a real token, False is padding; each row has a real one.
        ref_logp: (N, T), under the reference; Δ = ref_logp − logp.
        clip_eps: ε > 0.
        kl_coef: β ≥ 0.
        aggregate: "sequence" is the mean over the tokens of each answer, then over answers; "token" is over all tokens.
    Returns: a scalar, in the dtype of logp. Only logp gets a gradient.
    Raises: ValueError if the shapes disagree, clip_eps <= 0, kl_coef < 0, kl_coef > 0 without ref_logp, or aggregate is
        another word.
    Source: arXiv:2402.03300, eq. 3 and 4; "token" as in DAPO, arXiv:2503.14476, eq. 8.
    """
    # --- solution
    # TODO: refuse shapes that disagree, and options out of range.
    # TODO: the ratio of each token, and the smaller of the plain and the clipped objective.
    # TODO: the estimate of the KL divergence, if kl_coef is above 0.
    # TODO: the mean over real tokens, in one of two ways.
    # TODO: then make it robust: constants get no gradient, and padding may hold −inf.
    if logp.dim() != 2 or any(x is not None and x.shape != logp.shape for x in (old_logp, mask, ref_logp)):
        raise ValueError("logp, old_logp, mask and ref_logp should be (N, T)")
    if advantages.shape != logp.shape[:1]:
        raise ValueError(f"advantages should have one value for each row of logp, got {tuple(advantages.shape)}")
    if clip_eps <= 0:
        raise ValueError(f"clip_eps should be above 0, got {clip_eps}")
    if kl_coef < 0 or (kl_coef > 0 and ref_logp is None):
        raise ValueError(f"kl_coef should be 0 or more, and 0 without ref_logp, got {kl_coef}")
    if aggregate not in ("sequence", "token"):
        raise ValueError(f'aggregate should be "sequence" or "token", got {aggregate!r}')
    advantage = advantages.detach()[:, None]  # (N, 1)
    ratio = (logp - old_logp.detach()).masked_fill(~mask, 0).exp()  # (N, T)
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    losses = -torch.minimum(ratio * advantage, clipped * advantage)
    if ref_logp is not None:
        delta = (ref_logp.detach() - logp).masked_fill(~mask, 0)
        losses = losses + kl_coef * (delta.exp() - delta - 1)
    losses = losses.masked_fill(~mask, 0)
    if aggregate == "token":
        return losses.sum() / mask.sum()
    return (losses.sum(dim=1) / mask.sum(dim=1)).mean()
    # --- end
