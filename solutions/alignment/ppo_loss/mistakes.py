"""Known wrong answers to ppo_loss."""

from graders.kata import Mistake

FOLLOWING = "following = torch.cat([values[:, 1:], last_value[:, None]], dim=1)"
DELTA = "delta = rewards + gamma * alive * following - values"
ALIVE = "alive = 1 - dones.to(rewards.dtype)"
START = "running = torch.zeros_like(last_value)"
LOOP = "for t in reversed(range(rewards.shape[1])):"
RUNNING = "running = delta[:, t] + gamma * lam * alive[:, t] * running"
RESULT = "return advantages, advantages + values"
GRAPH = "with torch.no_grad():"
RETURN_OF_REWARDS = """total, sums = last_value, []
        for t in reversed(range(rewards.shape[1])):
            total = rewards[:, t] + gamma * alive[:, t] * total
            sums.insert(0, total)
        return advantages, torch.stack(sums, dim=1)"""
BY_EPISODE = "running = torch.stack([d + gamma * lam * a * r for d, a, r in zip(delta[:, t], alive[:, t], running)])"
BY_POWERS = """power = (gamma * lam) ** torch.arange(delta.shape[1]).to(delta)
        part = dones.bool().long().cumsum(1) - dones.bool().long()
        same = part[:, None] == part[:, :, None]
        ahead = torch.ones_like(same[0]).triu() & same
        advantages = (torch.where(ahead, delta[:, None], 0.0) * power).sum(2) / power"""

PICKED = "logp, old_logp, advantages = logp[mask], old_logp[mask], advantages[mask]"
RATIO = "ratio = (logp - old_logp.detach()).exp()"
ADVANTAGES = "advantages = advantages.detach()"
CLIPPED = "clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)"
POLICY = "return -torch.minimum(ratio * advantages, clipped * advantages).mean()"
LOSSES = "losses = -torch.minimum(ratio * advantages, clipped * advantages)"

FILLED = "logp, old_logp, advantages = (x.masked_fill(~mask, 0) for x in (logp, old_logp, advantages))"
MEAN_OF_REAL = f"{LOSSES}\n    return losses.mean() if mask is None else losses[mask].mean()"
EACH_WHITENED = (
    "advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)",
    "advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)",
    "advantages = advantages - advantages.mean()",
)

VALUES_PICKED = "values, old_values, returns = values[mask], old_values[mask], returns[mask]"
CONSTANTS = "old, returns = old_values.detach(), returns.detach()"
NEAR = "near = old + (values - old).clamp(-clip_eps, clip_eps)"
VALUE = "return torch.maximum((values - returns).square(), (near - returns).square()).mean() / 2"
SQUARES = "losses = torch.maximum((values - returns).square(), (near - returns).square()) / 2"


def mistake(name: str, diagnosis: str, old: str, new: str, *others: str) -> Mistake:
    """One text replaced by another, or in other forms by each of the others."""
    return Mistake(name, diagnosis, {old: [new, *others]})


def reduced(policy: str, value: str) -> list[dict[str, str]]:
    """Another reduction of one token's losses: of both, of the policy's, of the value's."""
    one = {PICKED: "pass", POLICY: f"{LOSSES}\n    return losses.mean() if mask is None else {policy}"}
    other = {VALUES_PICKED: "pass", VALUE: f"{SQUARES}\n    return losses.mean() if mask is None else {value}"}
    return [one | other, one, other]


MISTAKES = (
    mistake(
        "bootstrap_across_the_end",
        "the value after the end of an episode is counted in δ; multiply it by 1 − d",
        DELTA,
        DELTA.replace("alive * ", ""),
    ),
    mistake(
        "sum_across_the_end",
        "advantages of the next episode are added to this one's; multiply what is carried back by 1 − d",
        RUNNING,
        RUNNING.replace("alive[:, t] * ", ""),
    ),
    Mistake(
        "ends_ignored",
        "dones change nothing; multiply by 1 − d in δ and in what is carried back",
        {DELTA: DELTA.replace("alive * ", ""), RUNNING: RUNNING.replace("alive[:, t] * ", "")},
    ),
    mistake(
        "ends_one_later",
        "an end cuts one step too late or too early; the d of step t stands between step t and step t + 1",
        ALIVE,
        f"{ALIVE}\n        alive = torch.cat([alive[:, 1:], torch.ones_like(alive[:, :1])], dim=1)",
        f"{ALIVE}\n        alive = torch.cat([torch.ones_like(alive[:, :1]), alive[:, :-1]], dim=1)",
    ),
    mistake(
        "last_value_never_cut",
        "last_value counts even if the last step ends the episode; multiply it by 1 − d of that step",
        DELTA,
        f"{DELTA}\n        delta[:, -1] = rewards[:, -1] + gamma * last_value - values[:, -1]",
    ),
    mistake(
        "end_drops_the_reward",
        "the step that ends an episode loses its reward or its δ; only what comes after it is cut",
        DELTA,
        "delta = alive * (rewards + gamma * following) - values",
        "delta = alive * (rewards + gamma * following - values)",
    ),
    mistake(
        "ends_upside_down",
        "dones are taken for what goes on; 1 means that the episode ends with this step",
        ALIVE,
        "alive = dones.to(rewards.dtype)",
    ),
    Mistake(
        "ends_inverted_bit_by_bit",
        "dones are inverted by ~, which is right for bool alone; take 1 − d in the dtype of the rewards, or d == 0",
        {ALIVE: "alive = (~dones if not dones.is_floating_point() else 1 - dones).to(rewards.dtype)"},
    ),
    Mistake(
        "subtracted_from_bool",
        "1 − dones is an error for bool; cast them to the dtype of the rewards first",
        {ALIVE: "alive = 1 - dones"},
    ),
    mistake(
        "ends_in_float32",
        "1 − d is float32, and so is γ or λ times it, too coarse for float64; cast dones to the dtype of the rewards",
        ALIVE,
        "alive = 1 - dones.float()",
    ),
    mistake(
        "values_shifted_back",
        "δ takes the value before a step for the value after it; it should be r_t + γ V_{t+1} − V_t",
        FOLLOWING,
        "following = torch.cat([values[:, :1], values[:, :-1]], dim=1)",
        "following = torch.cat([last_value[:, None], values[:, :-1]], dim=1)",
    ),
    mistake(
        "same_value_twice",
        "δ takes V_t in both places; the discounted value is of the state after the step",
        FOLLOWING,
        "following = values",
    ),
    mistake(
        "delta_turned",
        "δ has its two values swapped or their signs turned; it should be r_t + γ V_{t+1} − V_t",
        DELTA,
        "delta = rewards + values - gamma * alive * following",
        "delta = rewards + gamma * alive * values - following",
    ),
    mistake(
        "no_bootstrap",
        "the value after the last step is 0; it should be last_value, unless that step ends the episode",
        FOLLOWING,
        "following = torch.cat([values[:, 1:], torch.zeros_like(last_value)[:, None]], dim=1)",
    ),
    mistake(
        "last_step_repeated",
        "the value after the last step is the value before it; it should be last_value",
        FOLLOWING,
        "following = torch.cat([values[:, 1:], values[:, -1:]], dim=1)",
    ),
    mistake(
        "last_step_left_out",
        "the last step has an advantage of 0; its δ is r + γ (1 − d) last_value − V",
        LOOP,
        "for t in reversed(range(rewards.shape[1] - 1)):",
    ),
    mistake(
        "starts_from_last_value",
        "the sum starts from last_value; it starts from 0, since last_value is already in the last δ",
        START,
        "running = last_value",
    ),
    mistake(
        "forwards",
        "the sum runs from the first step to the last; it should add up what comes later, so go backwards",
        LOOP,
        "for t in range(rewards.shape[1]):",
    ),
    mistake(
        "delta_not_discounted",
        "V_{t+1} is not multiplied by γ in δ",
        DELTA,
        DELTA.replace("gamma * ", ""),
    ),
    mistake(
        "gamma_missing_in_the_sum",
        "what is carried back is multiplied by λ alone or by γ alone; multiply it by γλ",
        RUNNING,
        RUNNING.replace("gamma * ", ""),
        RUNNING.replace("lam * ", ""),
    ),
    mistake(
        "lambda_in_delta",
        "λ stands in δ; it belongs only in the sum of the δ",
        DELTA,
        DELTA.replace("gamma * ", "gamma * lam * "),
    ),
    mistake(
        "lambda_upside_down",
        "1 − λ stands in place of λ; with λ = 0 the advantages are δ, and with λ = 1 they reach to the end",
        RUNNING,
        RUNNING.replace("lam", "(1 - lam)"),
    ),
    mistake(
        "averaged_by_lambda",
        "the δ are weighted by 1 − λ, as n-step returns are; A is the plain sum of (γλ)^l δ",
        RUNNING,
        RUNNING.replace("delta[:, t]", "(1 - lam) * delta[:, t]"),
    ),
    mistake(
        "returns_are_advantages", "the returns lack the values; they are A + V", RESULT, "return advantages, advantages"
    ),
    mistake(
        "returns_of_rewards",
        "the returns are discounted sums of rewards, without λ; they are A + V",
        RESULT,
        RETURN_OF_REWARDS,
        RETURN_OF_REWARDS.replace("last_value,", "torch.zeros_like(last_value),"),
    ),
    mistake(
        "returns_by_the_next_value",
        "the returns are A plus the value after the step, or A less the value; they are A + V of the state before it",
        RESULT,
        "return advantages, advantages + following",
        "return advantages, advantages - values",
    ),
    mistake(
        "results_swapped",
        "the returns come first; give the advantages first",
        RESULT,
        "return advantages + values, advantages",
    ),
    mistake(
        "advantages_whitened",
        "gae normalises the advantages to mean 0 and standard deviation 1; return them as they are",
        RESULT,
        "returns = advantages + values\n        "
        "return (advantages - advantages.mean()) / (advantages.std() + 1e-8), returns",
        "advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n        "
        "return advantages, advantages + values",
    ),
    mistake(
        "gae_keeps_a_graph",
        "the advantages or the returns require grad if the values do; calculate them under no_grad, or detach them",
        GRAPH,
        "with torch.set_grad_enabled(torch.is_grad_enabled()):",
    ),
    Mistake(
        "returns_keep_a_graph",
        "only the advantages are detached, and the returns still require grad; detach both",
        {RESULT: "pass\n    return advantages, advantages + values"},
    ),
    mistake(
        "divided_by_powers",
        "sums are divided by powers of γλ, which are 0 after many steps, so the result is not finite; go backwards "
        "step by step",
        START,
        f"{BY_POWERS}\n        {RESULT}",
    ),
    Mistake(
        "episode_by_episode",
        "a Python loop takes one episode at a time; take one step of all episodes at a time",
        {RUNNING: BY_EPISODE},
        slow=True,
    ),
    mistake(
        "larger_for_smaller",
        "the larger of ρA and clip(ρ)A is taken, or the smaller of the two losses; the loss should be "
        "−min(ρA, clip(ρ)A)",
        POLICY,
        POLICY.replace("minimum", "maximum"),
    ),
    mistake(
        "clipped_alone",
        "only the clipped ratio is used, so a bad token beyond the bound has no gradient; take the smaller of ρA and "
        "clip(ρ)A",
        POLICY,
        "return -(clipped * advantages).mean()",
    ),
    mistake(
        "not_clipped",
        "the ratio is not clipped; take the smaller of ρA and clip(ρ)A",
        POLICY,
        "return -(ratio * advantages).mean()",
    ),
    mistake(
        "smaller_of_the_means",
        "both products are averaged before the smaller one is taken; take the smaller one for each token",
        POLICY,
        "return -torch.minimum((ratio * advantages).mean(), (clipped * advantages).mean())",
    ),
    mistake(
        "smaller_ratio",
        "only the smaller ratio is multiplied by the advantage, which may be negative; multiply both ratios, then take "
        "the smaller product",
        POLICY,
        "return -(torch.minimum(ratio, clipped) * advantages).mean()",
    ),
    mistake(
        "one_sided_clip",
        "the ratio is clipped only on one side; both bounds count, 1 − clip_eps and 1 + clip_eps",
        CLIPPED,
        "clipped = ratio.clamp(max=1 + clip_eps)",
        "clipped = ratio.clamp(min=1 - clip_eps)",
    ),
    mistake(
        "log_ratio_clipped",
        "the bounds are e^±clip_eps, or the lower one is 1 / (1 + clip_eps); they should be 1 ± clip_eps",
        CLIPPED,
        "clipped = ratio.log().clamp(-clip_eps, clip_eps).exp()",
        "clipped = ratio.clamp(1 / (1 + clip_eps), 1 + clip_eps)",
    ),
    mistake(
        "clip_ignored", "clip_eps changes nothing; use it for the bounds", CLIPPED, CLIPPED.replace("clip_eps", "0.2")
    ),
    mistake(
        "product_clipped",
        "the product ρA is clipped; clip the ratio, then multiply",
        CLIPPED,
        "clipped = (ratio * advantages).clamp(1 - clip_eps, 1 + clip_eps) / advantages",
    ),
    mistake(
        "dual_clip",
        "for a negative advantage the loss is bounded a second time, as in dual-clip PPO; take −min(ρA, clip(ρ)A)",
        POLICY,
        *(
            f"{LOSSES}\n    return torch.where(advantages < 0, torch.minimum(losses, -{c} * advantages), losses).mean()"
            for c in (3, 10)
        ),
    ),
    mistake(
        "ratio_upside_down",
        "the ratio is the old probability over the new one; it should be the new one over the old one",
        RATIO,
        "ratio = (old_logp.detach() - logp).exp()",
    ),
    mistake(
        "no_exponential",
        "the ratio is the difference or the quotient of the log-probabilities; it should be e^(logp − old_logp)",
        RATIO,
        "ratio = logp - old_logp.detach()",
        "ratio = logp / old_logp.detach()",
        "ratio = 1 + logp - old_logp.detach()",
    ),
    Mistake(
        "no_ratio",
        "logp is multiplied by the advantage, as in REINFORCE, and there is no ratio; take −min(ρA, clip(ρ)A)",
        {POLICY: "return -(logp * advantages).mean()"},
    ),
    mistake(
        "sign_turned",
        "the objective is returned, which should grow; a loss should fall, so put a minus before it",
        POLICY,
        POLICY.replace("-", "", 1),
    ),
    Mistake(
        "whitened_in_the_loss",
        "the policy's loss normalises the advantages; take them as they are given",
        *({ADVANTAGES: f"{ADVANTAGES}\n    {one}"} for one in EACH_WHITENED),
        {PICKED: FILLED, ADVANTAGES: f"{ADVANTAGES}\n    {EACH_WHITENED[1]}", POLICY: MEAN_OF_REAL},
    ),
    Mistake(
        "mask_ignored",
        "padding counts as if it were real; leave it out by the mask",
        {PICKED: "pass", VALUES_PICKED: "pass"},
        {PICKED: "pass"},
        {VALUES_PICKED: "pass"},
    ),
    Mistake(
        "mean_over_all",
        "with a mask the sum is divided by the number of all tokens; divide it by the number of real ones",
        *reduced("(losses[mask]).sum() / mask.numel()", "losses[mask].sum() / mask.numel()"),
        *reduced("losses[mask].sum() / len(mask)", "losses[mask].sum() / len(mask)"),
    ),
    Mistake(
        "sum_for_mean",
        "with a mask the losses are added up; divide the sum by the number of real tokens",
        *reduced("losses[mask].sum()", "losses[mask].sum()"),
    ),
    Mistake(
        "mean_of_rows",
        "each row is averaged by itself, then the rows; take one mean over all real tokens",
        *(
            edits
            for rows in ("", "[mask.any(-1)]")
            for edits in reduced(
                *[f"((losses.masked_fill(~mask, 0).sum(-1) / mask.sum(-1).clamp(min=1)){rows}).mean()"] * 2
            )
        ),
    ),
    Mistake(
        "mask_upside_down",
        "padding is kept and real tokens are left out; True is a real token",
        {PICKED: PICKED.replace("[mask]", "[~mask]"), VALUES_PICKED: VALUES_PICKED.replace("[mask]", "[~mask]")},
        {PICKED: PICKED.replace("[mask]", "[~mask]")},
        {VALUES_PICKED: VALUES_PICKED.replace("[mask]", "[~mask]")},
    ),
    Mistake(
        "masked_too_late",
        "what stands in the padding is masked after it was used, and 0 · ∞ and 0 · NaN are NaN, in the loss or in the "
        "gradient; leave it out before, or put 0 in its place in every input",
        *reduced("(losses * mask).sum() / mask.sum()", "(losses * mask).sum() / mask.sum()"),
        *reduced("losses[mask].mean()", "losses[mask].mean()"),
    ),
    Mistake(
        "padding_multiplied_by_0",
        "the inputs are multiplied by the mask, and 0 · NaN is NaN; put 0 in place of padding, by torch.where or "
        "masked_fill",
        *(
            {
                PICKED: policy,
                POLICY: f"{LOSSES}\n    return losses.sum() / (losses.numel() if mask is None else mask.sum())",
            }
            | {
                VALUES_PICKED: value,
                VALUE: f"{SQUARES}\n    return losses.sum() / (losses.numel() if mask is None else mask.sum())",
            }
            for policy, value in (
                (
                    "logp, old_logp, advantages = logp * mask, old_logp * mask, advantages * mask",
                    "values, old_values, returns = values * mask, old_values * mask, returns * mask",
                ),
            )
        ),
    ),
    mistake(
        "advantages_get_gradients",
        "a gradient flows to the advantages, which are constants; detach them",
        ADVANTAGES,
        "pass",
    ),
    mistake(
        "old_logp_gets_gradients",
        "a gradient flows to old_logp, which is a constant; detach it",
        RATIO,
        RATIO.replace(".detach()", ""),
    ),
    Mistake(
        "policy_constants_get_gradients",
        "gradients flow to old_logp and to the advantages, which are constants; detach both",
        {ADVANTAGES: "pass", RATIO: RATIO.replace(".detach()", "")},
    ),
    Mistake(
        "ratio_is_constant",
        "logp is detached in the ratio, or stands in place of old_logp, so the gradient is 0 or wrong; detach only "
        "old_logp",
        {RATIO: "ratio = (logp.detach() - old_logp.detach()).exp() + 0 * logp"},
        {RATIO: "ratio = (logp - logp.detach()).exp()"},
    ),
    Mistake(
        "value_not_clipped",
        "the value's loss is a plain squared error, as it also is if the prediction is clipped around the return; take "
        "the larger of it and of the error of old + clip(v − old)",
        {VALUE: "return (values - returns).square().mean() / 2"},
        {NEAR: "near = returns + (values - returns).clamp(-clip_eps, clip_eps)"},
    ),
    mistake(
        "clipped_value_alone",
        "only the clipped prediction is used; take the larger of the two squared errors",
        VALUE,
        "return (near - returns).square().mean() / 2",
    ),
    mistake(
        "smaller_square",
        "the smaller of the two squared errors is taken; take the larger one",
        VALUE,
        VALUE.replace("maximum", "minimum"),
    ),
    mistake(
        "larger_of_the_means",
        "both squared errors are averaged before the larger one is taken; take the larger one for each token",
        VALUE,
        "return torch.maximum((values - returns).square().mean(), (near - returns).square().mean()) / 2",
    ),
    mistake(
        "half_missing", "the value's loss is twice too large; it has the factor ½", VALUE, VALUE.replace(" / 2", "")
    ),
    mistake(
        "absolute_error",
        "the value's loss is an absolute or a Huber error; square the errors",
        VALUE,
        "return torch.maximum((values - returns).abs(), (near - returns).abs()).mean() / 2",
        "return torch.nn.functional.smooth_l1_loss(values, returns)",
        "return torch.maximum((values - returns).abs(), (near - returns).abs()).mean()",
    ),
    mistake(
        "value_clipped_by_a_ratio",
        "the prediction is clipped to a multiple of the old one, old · (1 ± ε); clip it to old ± ε",
        NEAR,
        "near = old * (values / old).clamp(1 - clip_eps, 1 + clip_eps)",
        "near = torch.minimum(torch.maximum(values, old - clip_eps * old.abs()), old + clip_eps * old.abs())",
    ),
    mistake(
        "value_clipped_around_0",
        "the prediction itself is clipped to ±ε, or the old one is missing; it should be old + clip(v − old)",
        NEAR,
        "near = values.clamp(-clip_eps, clip_eps)",
        "near = (values - old).clamp(-clip_eps, clip_eps)",
        "near = values + (values - old).clamp(-clip_eps, clip_eps)",
    ),
    mistake(
        "value_clip_turned",
        "the clipped difference has the wrong sign; it should be old + clip(v − old)",
        NEAR,
        "near = old + (old - values).clamp(-clip_eps, clip_eps)",
        "near = old - (values - old).clamp(-clip_eps, clip_eps)",
    ),
    mistake(
        "value_clip_ignored",
        "clip_eps changes nothing in the value's loss; use it for the bounds",
        NEAR,
        NEAR.replace("clip_eps", "0.2"),
    ),
    mistake(
        "returns_get_gradients",
        "a gradient flows to the returns, which are constants; detach them",
        CONSTANTS,
        "old = old_values.detach()",
    ),
    mistake(
        "old_values_get_gradients",
        "a gradient flows to old_values, which are constants; detach them",
        CONSTANTS,
        "old, returns = old_values, returns.detach()",
    ),
    mistake(
        "value_constants_get_gradients",
        "gradients flow to old_values and to the returns, which are constants; detach both",
        CONSTANTS,
        "old = old_values",
    ),
    mistake(
        "whole_difference_detached",
        "the clipped prediction has no gradient even within the bounds; detach only the old prediction",
        NEAR,
        "near = old + (values - old).clamp(-clip_eps, clip_eps).detach()",
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{POLICY} -> return -torch.minimum(clipped * advantages, ratio * advantages).mean()": (
        "the smaller one has no order"
    ),
    f"{VALUE} -> return torch.maximum((near - returns).square(), (values - returns).square()).mean() / 2": (
        "the larger one has no order"
    ),
    "advantages = torch.zeros_like(delta) -> advantages = delta": "each δ is read before it is overwritten",
}
