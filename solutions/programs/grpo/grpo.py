"""Group relative policy optimisation: advantages of groups, the clipped loss with its KL term, and updates."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

CLIP, BETA = 0.2, 0.05


def log_probs(policy: nn.Module, prompts: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Of the tokens (B, L), and the entropy (B, L) of what they were drawn from."""
    logp = torch.log_softmax(policy(prompts, tokens), dim=-1)
    entropy = -(logp.exp() * logp).sum(dim=-1)
    return logp.gather(2, tokens[:, :, None])[:, :, 0], entropy


def advantages(rewards: Tensor, group: int) -> Tensor:
    """How far each reward is from the mean of its group, in standard deviations: (P · G,) -> (P · G,)."""
    groups = rewards.view(-1, group)
    centred = groups - groups.mean(dim=1, keepdim=True)
    return (centred / (groups.std(dim=1, keepdim=True) + 1e-4)).flatten()


def grpo_loss(new: Tensor, old: Tensor, ref: Tensor, advantage: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, the ratios (B, L), and the mean KL to the reference, from log-probabilities (B, L)."""
    ratio = torch.exp(new - old)
    gain = ratio * advantage[:, None]
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[:, None]
    kl = torch.exp(ref - new) - (ref - new) - 1
    each = torch.min(gain, clipped) - BETA * kl
    loss = -(each * mask).sum() / mask.sum()
    return loss, ratio, (kl * mask).sum() / mask.sum()


def collect(
    policy: nn.Module,
    reference: nn.Module,
    prompts: Tensor,
    group: int,
    rollout: Callable[[nn.Module, Tensor], tuple[Tensor, Tensor]],
    reward: Callable[[Tensor, Tensor], Tensor],
) -> dict[str, Tensor]:
    """A group of answers to each prompt, one after the other, with all that an update needs."""
    prompts = prompts.repeat_interleave(group)
    tokens, mask = rollout(policy, prompts)
    rewards = reward(prompts, tokens)
    with torch.no_grad():
        old, _ = log_probs(policy, prompts, tokens)
        ref, _ = log_probs(reference, prompts, tokens)
    advantage = advantages(rewards, group)
    batch = {"prompts": prompts, "tokens": tokens, "mask": mask, "rewards": rewards}
    return batch | {"old": old, "ref": ref, "advantage": advantage}


def update(
    policy: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Tensor], epochs: int
) -> dict[str, float]:
    """Some epochs on one batch; returns how far a ratio was from 1 in the first and in the last, and more."""
    mask, found = batch["mask"], {}
    for epoch in range(epochs):
        new, entropy = log_probs(policy, batch["prompts"], batch["tokens"])
        loss, ratio, kl = grpo_loss(new, batch["old"], batch["ref"], batch["advantage"], mask)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        off = ((ratio - 1).abs() * mask).max().item()
        found |= {"off" if epoch == 0 else "moved": off}
    entropy = (entropy * mask).sum() / mask.sum()
    return found | {"entropy": entropy.item(), "kl": kl.item()}
