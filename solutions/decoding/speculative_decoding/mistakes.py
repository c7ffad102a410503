"""Known wrong answers to speculative_decoding."""

from graders.kata import Mistake

DRAFTS = "drafts = draft_tokens.long()"
P = "p = target_probs[:, :K].gather(2, drafts[..., None])[..., 0]"
ACCEPTED = "accepted = (uniforms[:, :K] * q < p).cumprod(dim=1)"
COUNT = "count = accepted.sum(dim=1, keepdim=True)"
REST = "rest = (target_probs - F.pad(draft_probs, (0, 0, 0, 1))).clamp(min=0)"
OTHER_REST = REST.replace("draft_probs", "other")
WEIGHTS = "weights = rest.gather(1, count[..., None].expand(B, 1, V))[:, 0]"
SUMS = "sums = weights.cumsum(dim=1)"
DRAWN = "drawn = torch.searchsorted(sums, uniforms[:, K:] * sums[:, -1:], right=True)"
TOO_LARGE = "(sums[:, -1:] * (1 + 1e-6))"
TOKENS = "tokens = F.pad(drafts.masked_fill(accepted == 0, -1), (0, 1), value=-1)"
RESULT = "return tokens.scatter(1, count, drawn), count[:, 0] + 1"


def mistake(name: str, diagnosis: str, old: str, new: str, *others: str) -> Mistake:
    """One text replaced by another, or in other forms by each of the others."""
    return Mistake(name, diagnosis, {old: [new, *others]})


MISTAKES = (
    mistake(
        "ratio_upside_down",
        "a draft is accepted with probability q/p; it should be p/q, so u · q < p",
        ACCEPTED,
        ACCEPTED.replace("* q < p", "* p < q"),
    ),
    mistake(
        "q_left_out",
        "u is compared with p alone; the draft already came with probability q, so compare u · q with p",
        ACCEPTED,
        ACCEPTED.replace("* q < p", "< p"),
    ),
    mistake(
        "accepted_if_likelier",
        "a draft is accepted only if p exceeds q, or a half, and the uniforms are not used; accept it with probability "
        "p/q",
        ACCEPTED,
        ACCEPTED.replace("uniforms[:, :K] * q < p", "q < p"),
        ACCEPTED.replace("uniforms[:, :K] * q < p", "q <= p"),
        ACCEPTED.replace("uniforms[:, :K] * q < p", "q < 2 * p"),
    ),
    mistake(
        "greedy_match",
        "a draft is accepted if it is the target's most probable token; accept it with probability p/q",
        ACCEPTED,
        ACCEPTED.replace("uniforms[:, :K] * q < p", "target_probs[:, :K].argmax(2) == drafts"),
    ),
    mistake(
        "rejected_if_below",
        "drafts are accepted where they should be rejected; accept if u · q is below p",
        ACCEPTED,
        ACCEPTED.replace("< p", "> p"),
    ),
    mistake(
        "equal_is_accepted",
        "u = 0 accepts a draft that the target gives the probability 0; compare by <, not by ≤",
        ACCEPTED,
        ACCEPTED.replace("< p", "<= p"),
    ),
    Mistake(
        "accepted_after_a_rejection",
        "a draft after a rejected one is still accepted; it was written after a token that is not there any more, so "
        "only drafts before the first rejection count",
        {ACCEPTED: ACCEPTED.replace(".cumprod(dim=1)", ".long()")},
        {
            ACCEPTED: ACCEPTED.replace(".cumprod(dim=1)", ".long()"),
            TOKENS: TOKENS.replace("accepted == 0", "torch.arange(K, device=drafts.device) >= count"),
        },
    ),
    mistake(
        "all_or_nothing",
        "one rejected draft rejects all; those before it stay",
        ACCEPTED,
        "accepted = (uniforms[:, :K] * q < p).all(dim=1, keepdim=True).long().expand(B, K)",
    ),
    mistake(
        "target_of_the_next_position",
        "the draft at position i is compared with the target's probabilities at i + 1; target_probs[:, i] belongs to "
        "draft i",
        P,
        P.replace("[:, :K]", "[:, 1:]"),
    ),
    mistake(
        "drawn_from_the_target",
        "the new token after a rejection is drawn from p; draw it from max(0, p − q), else the result has not the "
        "target's distribution",
        REST,
        "rest = target_probs",
    ),
    mistake(
        "absolute_difference",
        "the new token is drawn from abs(p − q); draw it from max(0, p − q)",
        REST,
        REST.replace(".clamp(min=0)", ".abs()"),
    ),
    mistake(
        "difference_turned",
        "the new token is drawn from max(0, q − p); draw it from max(0, p − q)",
        REST,
        "rest = (F.pad(draft_probs, (0, 0, 0, 1)) - target_probs).clamp(min=0)\n    rest[:, K] = target_probs[:, K]",
    ),
    mistake(
        "not_clamped",
        "p − q is not clamped at 0, so its cumulative sums fall; take max(0, p − q)",
        REST,
        REST.replace(".clamp(min=0)", ""),
    ),
    mistake(
        "drawn_from_the_draft",
        "the new token after a rejection is drawn from q; draw it from max(0, p − q)",
        REST,
        "rest = torch.cat([draft_probs, target_probs[:, K:]], dim=1)",
    ),
    mistake(
        "bonus_from_the_draft",
        "after all drafts the new token is drawn from the draft model's last probabilities; draw it from "
        "target_probs[:, K]",
        REST,
        "rest = torch.cat([(target_probs[:, :K] - draft_probs).clamp(min=0), draft_probs[:, -1:]], dim=1)",
    ),
    mistake(
        "bonus_from_a_difference",
        "after all drafts something is still subtracted from the target's probabilities; there is no draft, so "
        "draw from target_probs[:, K]",
        REST,
        "rest = (target_probs - torch.cat([draft_probs, draft_probs[:, -1:]], dim=1)).clamp(min=0)",
    ),
    Mistake(
        "weights_of_another_position",
        "the new token is drawn from the weights of another position, or q is of another position than p; take both at "
        "the first rejected draft",
        {WEIGHTS: "weights = rest.gather(1, (count - 1).clamp(min=0)[..., None].expand(B, 1, V))[:, 0]"},
        {WEIGHTS: "weights = rest.gather(1, (count + 1).clamp(max=K)[..., None].expand(B, 1, V))[:, 0]"},
        {WEIGHTS: ["weights = rest[:, 0]", "weights = rest[:, K]"]},
        {REST: f"other = torch.cat([draft_probs[:, 1:], draft_probs[:, -1:]], dim=1)\n    {OTHER_REST}"},
        {REST: f"other = torch.cat([draft_probs[:, :1], draft_probs[:, :-1]], dim=1)\n    {OTHER_REST}"},
    ),
    mistake(
        "not_renormalised",
        "max(0, p − q) is not divided by its sum, so u often exceeds all cumulative weights; compare with u times the "
        "total",
        DRAWN,
        "drawn = torch.searchsorted(sums, uniforms[:, K:].contiguous(), right=True).clamp(max=V - 1)",
        "drawn = (sums > uniforms[:, K:]).long().argmax(dim=1, keepdim=True)",
    ),
    Mistake(
        "beyond_the_last_token",
        "for u just below 1, rounding leaves no cumulative weight above u times the total, and the index is V or a "
        "token of weight 0; take the last cumulative weight for the total",
        {DRAWN: DRAWN.replace("sums[:, -1:]", TOO_LARGE)},
        {DRAWN: DRAWN.replace("sums[:, -1:]", TOO_LARGE) + ".clamp(max=V - 1)"},
    ),
    mistake(
        "weight_0_drawn",
        "u = 0 draws a token of weight 0; take the first token whose cumulative weight exceeds u · total, and not one "
        "that only reaches it",
        DRAWN,
        DRAWN.replace("right=True", "right=False"),
    ),
    mistake(
        "most_probable_token",
        "the new token is the one with the largest weight; draw it by the last uniform",
        DRAWN,
        "drawn = weights.argmax(dim=1, keepdim=True)",
    ),
    mistake(
        "drawn_at_random",
        "the new token is drawn by torch's generator; use the last uniform",
        DRAWN,
        "drawn = torch.multinomial(weights, 1)",
    ),
    mistake(
        "another_uniform",
        "the new token is drawn by the uniform of its position or by the first one; use the last, uniforms[:, K]",
        DRAWN,
        "drawn = torch.searchsorted(sums, uniforms.gather(1, count) * sums[:, -1:], right=True)",
        "drawn = torch.searchsorted(sums, uniforms[:, :1] * sums[:, -1:], right=True)",
    ),
    mistake(
        "one_minus_u",
        "the cumulative weights are compared with 1 − u or run from the last token; take the first token whose "
        "cumulative weight exceeds u · total",
        DRAWN,
        "drawn = torch.searchsorted(sums, (1 - uniforms[:, K:]) * sums[:, -1:], right=True).clamp(max=V - 1)",
    ),
    mistake(
        "next_token",
        "the token after the right one is drawn, or the one before it; the first whose cumulative weight exceeds "
        "u · total counts",
        DRAWN,
        f"{DRAWN}\n    drawn = (drawn + 1).clamp(max=V - 1)",
        f"{DRAWN}\n    drawn = (drawn - 1).clamp(min=0)",
    ),
    mistake(
        "drafts_after_the_new_token",
        "rejected drafts stand after the new token; put −1 there",
        TOKENS,
        "tokens = F.pad(drafts, (0, 1), value=-1)",
        "tokens = F.pad(drafts, (0, 1))",
    ),
    mistake(
        "zeros_after_the_new_token",
        "0 stands after the new token, which is a token itself; put −1 there",
        TOKENS,
        "tokens = F.pad(drafts * accepted, (0, 1))",
    ),
    mistake(
        "rejected_draft_stays",
        "the rejected draft stays, and the new token stands after it; the new token replaces it",
        RESULT,
        "tokens = torch.cat([drafts, drafts[:, :1]], dim=1)\n    place = torch.arange(K + 1)\n    "
        "tokens = tokens.masked_fill(place > count, -1)\n    "
        "return tokens.scatter(1, (count + 1).clamp(max=K), drawn), count[:, 0] + 1",
    ),
    mistake(
        "no_bonus",
        "if all drafts are accepted, no token is drawn after them; draw one more from target_probs[:, K]",
        RESULT,
        "tokens = torch.where(count == K, tokens, tokens.scatter(1, count, drawn))\n    "
        "return tokens, (count[:, 0] + 1).clamp(max=K)",
    ),
    mistake(
        "new_token_missing",
        "a rejected draft is not replaced; draw a token from max(0, p − q) in its place",
        RESULT,
        "tokens = torch.where(count == K, tokens.scatter(1, count, drawn), tokens)\n    "
        "return tokens, torch.where(count[:, 0] == K, K + 1, count[:, 0])",
    ),
    mistake(
        "lengths_without_the_new_token",
        "the lengths count the accepted drafts alone; the new token is one more",
        RESULT,
        RESULT.replace(" + 1", ""),
    ),
    mistake(
        "length_of_the_table",
        "the length is K + 1 for all; count the tokens",
        RESULT,
        RESULT.replace("count[:, 0] + 1", "0 * count[:, 0] + K + 1"),
    ),
    mistake(
        "lengths_of_another_dtype",
        "the lengths are not int64",
        RESULT,
        RESULT.replace("+ 1", "+ 1.0"),
        RESULT.replace("count[:, 0] + 1", "(count[:, 0] + 1).int()"),
    ),
    mistake(
        "tokens_in_the_drafts_dtype",
        "tokens keep the dtype of the drafts, where −1 may be 255; they should be int64",
        RESULT,
        "tokens = tokens.scatter(1, count, drawn).to(draft_tokens.dtype).long()\n    return tokens, count[:, 0] + 1",
        "tokens = tokens.scatter(1, count, drawn).to(draft_tokens.dtype)\n    return tokens, count[:, 0] + 1",
    ),
    mistake(
        "drafts_as_they_come",
        "gather takes int64 alone, so drafts of other integer dtypes raise; cast them first",
        DRAFTS,
        "drafts = draft_tokens",
    ),
    Mistake(
        "sequence_by_sequence",
        "a Python loop takes one sequence at a time; gather, cumprod and cumsum take all at once",
        {COUNT: "count = torch.stack([row.sum() for row in accepted])[:, None]"},
        slow=True,
    ),
)

# What survives, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    "float32_inside": "the statement allows it: tokens are the same, unless u is within 1e-4 of a bound",
    "not_refused_1": "taking apart a shape of another length is a ValueError as well",
    **{
        f"{line} -> {line.replace('[..., 0]', '[..., -1]')}": "the axis has length 1"
        for line in (P, "q = draft_probs.gather(2, drafts[..., None])[..., 0]")
    },
    f"{WEIGHTS} -> {WEIGHTS.replace('(B, 1, V)', '(B, 2, V)')}": "the first of two equal rows",
    f"{WEIGHTS} -> {WEIGHTS.replace('[:, 0]', '[:, -1]')}": "the axis has length 1",
    "return (tokens.scatter(1, count, drawn), count[:, 0] + 1) -> "
    "return (tokens.scatter(1, count, drawn), count[:, -1] + 1)": "the axis has length 1",
}
