"""Known wrong answers to grpo_loss."""

from graders.kata import Mistake

FIRST = "rewards = rewards - rewards[:, :1]"
CENTRED = "centred = rewards - rewards.mean(dim=1, keepdim=True)"
STD = "(rewards.std(dim=1, keepdim=True) + eps)"
SCALED = f"return centred / {STD} if scale else centred"

RATIO = "ratio = (logp - old_logp.detach()).masked_fill(~mask, 0).exp()"
CLIPPED = "clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)"
ADVANTAGE = "advantage = advantages.detach()[:, None]"
OBJECTIVE = "losses = -torch.minimum(ratio * advantage, clipped * advantage)"
DELTA = "delta = (ref_logp.detach() - logp).masked_fill(~mask, 0)"
KL = "losses = losses + kl_coef * (delta.exp() - delta - 1)"
PADDING = "losses = losses.masked_fill(~mask, 0)"
TOKEN = "return losses.sum() / mask.sum()"
SEQUENCE = "return (losses.sum(dim=1) / mask.sum(dim=1)).mean()"
RATIO_BY_PRODUCT = "ratio = ((logp - old_logp.detach()) * mask).exp()"  # wrong for −∞ only
DELTA_BY_PRODUCT = "delta = (ref_logp.detach() - logp) * mask"
FILLED_AFTER = "ratio = (logp - old_logp.detach()).exp().masked_fill(~mask, 1)"
NEW, OLD, REF = (
    f"{name}.masked_fill(~mask, -torch.inf)" for name in ("logp", "old_logp.detach()", "ref_logp.detach()")
)
OF_MINUS_INFINITY, DELTA_OF_MINUS_INFINITY = f"ratio = ({NEW} - {OLD}).exp()", f"delta = {REF} - {NEW}"
EQUAL = "(rewards == rewards[:, :1]).all(dim=1, keepdim=True)"
MEAN_OF_SQUARES = "(rewards.square().mean(dim=1, keepdim=True) - rewards.mean(dim=1, keepdim=True).square())"
BY_SQUARES = f"(({MEAN_OF_SQUARES}.clamp(min=0) * rewards.shape[1] / (rewards.shape[1] - 1)).sqrt() + eps)"
BY_ANSWER = "torch.stack([(new - old).exp() for new, old in zip(logp, old_logp.detach())])"


def mistake(name: str, diagnosis: str, old: str, new: str, *others: str) -> Mistake:
    """One text replaced by another, or in other forms by each of the others."""
    return Mistake(name, diagnosis, {old: [new, *others]})


MISTAKES = (
    mistake(
        "mean_over_prompts",
        "the mean is taken over answers to several prompts; take it over the group",
        CENTRED,
        CENTRED.replace("dim=1", "dim=0"),
        CENTRED.replace("dim=1, keepdim=True", ""),
    ),
    Mistake(
        "std_of_all_prompts",
        "the standard deviation, perhaps also the mean, is taken over all prompts; take both over the group",
        {STD: "(rewards.std() + eps)"},
        {FIRST: "pass", STD: "(rewards.std() + eps)"},
        {FIRST: "pass", STD: "(rewards.std() + eps)", CENTRED: CENTRED.replace("dim=1, keepdim=True", "")},
        {FIRST: "pass", STD: STD.replace("dim=1", "dim=0"), CENTRED: CENTRED.replace("dim=1", "dim=0")},
    ),
    mistake(
        "divided_by_g",
        "the variance divides by G; divide by G − 1, as std does by default",
        STD,
        STD.replace("dim=1", "dim=1, correction=0"),
    ),
    mistake(
        "eps_inside_the_root",
        "eps or its square is added to the variance, or eps is a lower bound of the standard deviation; add eps to "
        "the standard deviation",
        STD,
        "(rewards.var(dim=1, keepdim=True) + eps).sqrt()",
        "(rewards.var(dim=1, keepdim=True) + eps**2).sqrt()",
        "rewards.std(dim=1, keepdim=True).clamp(min=eps)",
    ),
    mistake(
        "eps_ignored",
        "eps changes nothing; divide by std + eps",
        STD,
        STD.replace("eps", "1e-6"),
        STD.replace("eps", "1e-8"),
    ),
    mistake(
        "divided_by_the_variance",
        "the advantages are divided by the variance; divide by std + eps",
        STD,
        STD.replace("std", "var"),
    ),
    mistake("always_scaled", "scale=False also divides; it should return r − mean", SCALED, f"return centred / {STD}"),
    mistake(
        "never_scaled",
        "the advantages are not divided by the standard deviation; unless scale is False, divide by std + eps",
        SCALED,
        "return centred",
    ),
    mistake(
        "divided_without_mean",
        "the mean is not subtracted; subtract the mean of the group",
        CENTRED,
        "centred = rewards",
    ),
    Mistake(
        "rounding_becomes_an_advantage",
        "equal rewards do not give 0: their mean is rounded, and dividing by a small number enlarges the error; "
        "first subtract one reward of the group from all",
        {FIRST: "pass"},
    ),
    Mistake(
        "small_spread_is_none",
        "a group whose standard deviation is below a threshold gets 0, but rewards may differ by as little as 1e-5; "
        "compare the rewards themselves",
        *(
            {**first, CENTRED: f"{CENTRED}\n    centred = centred.masked_fill({STD} < {least}, 0)"}
            for first in ({}, {FIRST: "pass"})
            for least in ("1e-4", "1e-3")
        ),
    ),
    Mistake(
        "variance_by_squares",
        "the variance is the squares' mean less the mean's square, which loses the spread of rewards far from 0; "
        "subtract the mean, or one reward of the group, first",
        {FIRST: "pass", STD: BY_SQUARES},
        {FIRST: "pass", STD: BY_SQUARES, CENTRED: f"{CENTRED}\n    centred = centred.masked_fill({EQUAL}, 0)"},
    ),
    mistake(
        "shifted_by_another_group",
        "the first group's reward is subtracted from all groups, so rounding counts in the others; subtract one "
        "reward of each group from that group",
        FIRST,
        "rewards = rewards - rewards[0, 0]",
        "rewards = rewards - rewards.min()",
        "rewards = rewards - rewards.mean()",
    ),
    mistake(
        "leave_one_out",
        "the mean of the other answers' rewards is subtracted, as in RLOO; subtract the mean of the whole group",
        CENTRED,
        f"{CENTRED}\n    centred = centred * (rewards.shape[1] / (rewards.shape[1] - 1))",
    ),
    mistake(
        "normalised_twice",
        "the advantages are normalised once more over all groups; leave them as they are",
        SCALED,
        f"a = {SCALED[7:]}\n    return (a - a.mean()) / (a.std() + eps)",
        f"a = {SCALED[7:]}\n    return (a - a.mean()) / (a.std() + eps) if scale else a",
    ),
    mistake(
        "larger_for_smaller",
        "the larger of ρA and clip(ρ)A is taken, or the smaller of the two losses; the loss should be "
        "−min(ρA, clip(ρ)A)",
        OBJECTIVE,
        OBJECTIVE.replace("minimum", "maximum"),
        "losses = torch.minimum(-ratio * advantage, -clipped * advantage)",
    ),
    mistake(
        "clipped_alone",
        "only the clipped ratio is used; take the smaller of ρA and clip(ρ)A",
        OBJECTIVE,
        "losses = -clipped * advantage",
    ),
    mistake(
        "not_clipped",
        "the ratio is not clipped; take the smaller of ρA and clip(ρ)A",
        OBJECTIVE,
        "losses = -ratio * advantage",
    ),
    mistake(
        "dual_clip",
        "for a negative advantage the loss is bounded a second time, as in dual-clip PPO; take −min(ρA, clip(ρ)A)",
        OBJECTIVE,
        *(
            f"{OBJECTIVE}\n    losses = torch.where(advantage < 0, torch.minimum(losses, -{c} * advantage), losses)"
            for c in (3, 10)
        ),
    ),
    mistake(
        "smaller_ratio",
        "only the smaller ratio is multiplied by the advantage, which may be negative; multiply both ratios, then take "
        "the smaller product",
        OBJECTIVE,
        "losses = -torch.minimum(ratio, clipped) * advantage",
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
        "clip_ignored",
        "clip_eps changes nothing; use it for the bounds",
        CLIPPED,
        CLIPPED.replace("clip_eps", "0.2"),
    ),
    mistake(
        "ratio_upside_down",
        "the ratio is the old probability over the new one; it should be the new one over the old one",
        RATIO,
        RATIO.replace("logp - old_logp.detach()", "old_logp.detach() - logp"),
    ),
    mistake(
        "no_exponential",
        "the ratio is the difference or the quotient of the log-probabilities; it should be e^(logp − old_logp)",
        RATIO,
        RATIO.replace(".exp()", ""),
        "ratio = logp / old_logp.detach()",
    ),
    Mistake(
        "ratio_is_constant",
        "logp is detached in the ratio, or stands in place of old_logp, so the gradient is 0 or wrong; take logp − "
        "old_logp, and detach only old_logp",
        {RATIO: RATIO.replace("(logp", "(logp.detach()")},
        {RATIO: RATIO.replace("(logp", "(logp.detach()"), "if ref_logp is not None:": "if kl_coef > 0:"},
        {RATIO: RATIO.replace("old_logp", "logp")},
    ),
    mistake(
        "no_ratio",
        "logp is multiplied by the advantage, as in REINFORCE, and there is no ratio; take −min(ρA, clip(ρ)A) with "
        "ρ = e^(logp − old_logp)",
        OBJECTIVE,
        "losses = -logp.masked_fill(~mask, 0) * advantage",
    ),
    mistake(
        "one_ratio_for_an_answer",
        "all tokens of an answer share one ratio, as in GSPO; each token should have its own",
        CLIPPED,
        f"ratio = (ratio.log().sum(dim=1) / mask.sum(dim=1)).exp()[:, None].expand(mask.shape)\n    {CLIPPED}",
    ),
    mistake(
        "sign_turned",
        "min(ρA, clip(ρ)A) lacks its minus; the loss should be −min(ρA, clip(ρ)A), plus the KL term",
        OBJECTIVE,
        OBJECTIVE.replace("-", "", 1),
    ),
    mistake(
        "kl_inside_the_minimum",
        "the KL term is inside the minimum, in one of the two products or in the advantage, which changes what it "
        "adds; add it after the minimum",
        KL,
        *(
            f"term = kl_coef * (delta.exp() - delta - 1)\n        losses = -torch.minimum({one}, {other})"
            for one, other in (
                ("ratio * advantage - term", "clipped * advantage"),
                ("ratio * advantage", "clipped * advantage - term"),
                ("ratio * (advantage - term)", "clipped * (advantage - term)"),
                ("ratio * (advantage - term.detach())", "clipped * (advantage - term.detach())"),
            )
        ),
    ),
    mistake(
        "kl_of_the_old_policy",
        "Δ compares the reference with old_logp; it should be ref_logp − logp, whose gradient counts",
        DELTA,
        DELTA.replace("- logp", "- old_logp.detach()"),
    ),
    mistake(
        "kl_times_a_probability",
        "the KL term is multiplied by the ratio or by a probability; take e^Δ − Δ − 1 of each token as it is",
        KL,
        KL.replace("kl_coef *", "kl_coef * ratio *"),
        "losses = losses + kl_coef * ref_logp.masked_fill(~mask, 0).detach().exp() * delta",
        "losses = losses - kl_coef * logp.masked_fill(~mask, 0).exp() * delta",
    ),
    mistake(
        "kl_averaged_apart",
        "the KL term is averaged over all tokens before it is added; add each token's own, then average as the "
        "aggregate says",
        KL,
        "losses = losses + kl_coef * (delta.exp() - delta - 1).mean()",
        "losses = losses + kl_coef * (delta.exp() - delta - 1).sum() / mask.sum()",
    ),
    mistake(
        "kl_less_by_one",
        "the KL term is too small by 1, as where 1 is subtracted although expm1 has done it; take e^Δ − Δ − 1",
        KL,
        KL.replace("- 1)", "- 2)"),
    ),
    mistake(
        "kl_other_way",
        "Δ has the wrong sign; it should be ref_logp − logp",
        DELTA,
        DELTA.replace("ref_logp.detach() - logp", "logp - ref_logp.detach()"),
    ),
    mistake(
        "kl_of_the_difference",
        "the KL term is the difference of the log-probabilities; take e^Δ − Δ − 1",
        KL,
        "losses = losses - kl_coef * delta",
        "losses = losses + kl_coef * delta",
    ),
    mistake(
        "kl_squared", "the KL term is Δ² / 2; take e^Δ − Δ − 1", KL, "losses = losses + kl_coef * delta.square() / 2"
    ),
    mistake(
        "kl_without_one",
        "the KL term lacks its − 1; take e^Δ − Δ − 1",
        KL,
        "losses = losses + kl_coef * (delta.exp() - delta)",
    ),
    mistake(
        "kl_is_constant",
        "no gradient flows through the KL term; detach only ref_logp",
        DELTA,
        DELTA.replace("- logp", "- logp.detach()"),
    ),
    mistake("kl_subtracted", "the KL term is subtracted; add it to the loss", KL, KL.replace("losses +", "losses -")),
    mistake(
        "kl_clamped",
        "the KL term or Δ is clamped, which changes its value and its gradient; leave both as they are",
        KL,
        KL.replace("- 1)", "- 1).clamp(max=10)"),
        f"delta = delta.clamp(-1, 1)\n        {KL}",
    ),
    mistake(
        "kl_with_another_gradient",
        "the KL term has the right value and the gradient of Δ² / 2; let the gradient flow through e^Δ − Δ − 1",
        KL,
        "square = delta.square() / 2\n        "
        "losses = losses + kl_coef * ((delta.exp() - delta - 1).detach() + square - square.detach())",
    ),
    mistake("kl_left_out", "the KL term is missing; add kl_coef · (e^Δ − Δ − 1)", KL, "pass"),
    mistake(
        "kl_not_weighted", "kl_coef does not weight the KL term; multiply by it", KL, KL.replace("kl_coef *", "1.0 *")
    ),
    mistake(
        "padding_counted",
        "padded tokens have a loss; set it to 0 before adding up",
        PADDING,
        "pass",
    ),
    Mistake(
        "zero_advantages_left_out",
        "answers with an advantage of 0 are left out, with their KL term or their tokens' number; leave out padding "
        "alone",
        {
            PADDING: f"mask = mask & (advantage != 0)\n    {PADDING}",
            TOKEN: TOKEN + ".clamp(min=1)",
            SEQUENCE: SEQUENCE.replace("sum(dim=1)).", "sum(dim=1).clamp(min=1))."),
        },
        {PADDING: f"mask = mask & (advantage != 0)\n    {PADDING}"},
        {PADDING: f"{PADDING}[advantages != 0]\n    mask = mask[advantages != 0]"},
        {PADDING: PADDING.replace("~mask", "~mask | (advantage == 0)")},
    ),
    Mistake(
        "mean_over_t",
        "the sums are not divided, or are divided by T or N · T; divide by the number of real tokens: of each "
        'answer for "sequence", of all answers for "token"',
        {SEQUENCE: ["return losses.mean(dim=1).mean()", "return losses.sum(dim=1).mean()"]},
        {TOKEN: "return losses.mean()"},
        {TOKEN: "return losses.mean()", SEQUENCE: "return losses.mean()"},
    ),
    Mistake(
        "aggregates_swapped",
        '"sequence" and "token" are swapped',
        {'if aggregate == "token":': 'if aggregate != "token":'},
    ),
    mistake(
        "aggregate_ignored",
        'both aggregates are the mean over all real tokens; for "sequence", average in each answer first',
        SEQUENCE,
        TOKEN,
    ),
    mistake(
        "always_by_sequence",
        'both aggregates are the mean of the answers\' means; for "token", average over all real tokens at once',
        TOKEN,
        SEQUENCE,
    ),
    mistake(
        "sum_of_sequences",
        "the means of the answers are added up; average them",
        SEQUENCE,
        SEQUENCE.replace("mean", "sum"),
    ),
    Mistake(
        "masked_after_exp",
        "padding is masked after exp, or multiplied by 0, and 0 · ∞ is NaN in the loss or its gradient; use "
        "masked_fill on the differences, before exp",
        {
            RATIO: RATIO.replace(".masked_fill(~mask, 0)", ""),
            DELTA: DELTA.replace(".masked_fill(~mask, 0)", ""),
            PADDING: "losses = losses * mask",
        },
        {RATIO: RATIO.replace(".masked_fill(~mask, 0)", ""), DELTA: DELTA.replace(".masked_fill(~mask, 0)", "")},
        {RATIO: RATIO.replace(".masked_fill(~mask, 0)", "")},
        {
            RATIO: "ratio = (logp.masked_fill(~mask, 0) - old_logp.detach()).exp()",
            PADDING: "losses = losses * mask",
        },
        {DELTA: DELTA.replace(".masked_fill(~mask, 0)", "")},
        {RATIO: RATIO.replace(".masked_fill(~mask, 0)", ""), PADDING: "losses = losses * mask"},
        {DELTA: DELTA.replace(".masked_fill(~mask, 0)", ""), PADDING: "losses = losses * mask"},
        {
            RATIO: RATIO.replace(".masked_fill(~mask, 0).exp()", ".exp() * mask"),
            DELTA: DELTA.replace(".masked_fill(~mask, 0)", "") + " * mask",
        },
        {RATIO: FILLED_AFTER},
        {RATIO: FILLED_AFTER, DELTA: DELTA.replace(".masked_fill(~mask, 0)", "")},
        {RATIO: RATIO_BY_PRODUCT},
        {RATIO: RATIO_BY_PRODUCT, DELTA: DELTA_BY_PRODUCT},
        {RATIO: RATIO_BY_PRODUCT, PADDING: "losses = losses * mask"},
        {RATIO: RATIO_BY_PRODUCT, DELTA: DELTA_BY_PRODUCT, PADDING: "losses = losses * mask"},
    ),
    Mistake(
        "padding_of_minus_infinity",
        "log-probabilities are set to −∞ at padding, and −∞ − (−∞) is NaN; set the differences to 0 there",
        {RATIO: OF_MINUS_INFINITY, PADDING: "losses = losses * mask"},
        {RATIO: OF_MINUS_INFINITY, PADDING: "losses = losses * mask", DELTA: DELTA_OF_MINUS_INFINITY},
    ),
    Mistake(
        "constants_get_gradients",
        "a gradient flows to old_logp, advantages or ref_logp, which are constants; detach them",
        {ADVANTAGE: ADVANTAGE.replace(".detach()", "")},
        {RATIO: RATIO.replace(".detach()", "")},
        {DELTA: DELTA.replace(".detach()", "")},
        {old: old.replace(".detach()", "") for old in (ADVANTAGE, RATIO)},
        {old: old.replace(".detach()", "") for old in (ADVANTAGE, RATIO, DELTA)},
        {old: old.replace(".detach()", "") for old in (ADVANTAGE, DELTA)},
    ),
    Mistake(
        "float32_weights",
        "the mask is divided by a count, which gives float32 even for float64 inputs; cast the mask to the dtype of "
        "logp first",
        {TOKEN: "return (losses * (mask / mask.sum()).to(losses)).sum()"}
        | {SEQUENCE: "return (losses * (mask / (mask.sum(dim=1, keepdim=True) * len(mask))).to(losses)).sum()"},
    ),
    Mistake(
        "answer_by_answer",
        "a Python loop takes one answer at a time; exp takes all tokens",
        {RATIO: f"ratio = {BY_ANSWER}.masked_fill(~mask, 1)"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    **{
        f"{line} -> {line.replace(', 0)', f', {other})')}": "any finite number will do: the loss is 0 there"
        for line in (RATIO, DELTA)
        for other in (1, -1)
    },
    f"{OBJECTIVE} -> losses = -torch.minimum(clipped * advantage, ratio * advantage)": "the smaller one has no order",
}
