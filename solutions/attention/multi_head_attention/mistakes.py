"""Known wrong answers to multi_head_attention."""

from graders.kata import Mistake

SPLIT = "layer(x).unflatten(-1, (self.num_heads, d)).transpose(1, 2)"
INTERLEAVED = "layer(x).unflatten(-1, (d, self.num_heads)).permute(0, 3, 1, 2)"
LAYERS = "((self.q_linear, query), (self.k_linear, key), (self.v_linear, value))"
SCORES = "(q / math.sqrt(d)) @ k.mT"
LEAST = "torch.finfo(scores.dtype).min"
BLOCK = f"scores = scores.masked_fill(mask == 0, {LEAST})"
ADDED_INFINITY = "scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, -torch.inf)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
IN_FLOAT32 = "(lambda e: e / e.sum(-1, keepdim=True))(scores.float().exp())"
WITH_EPS = "(lambda e: e / (e.sum(-1, keepdim=True) + {}))((scores - scores.amax(-1, keepdim=True)).exp())"
CLEAR = "attn = attn.masked_fill(mask == 0, 0)"
NOT_CLEARED = {CLEAR: "pass"}
SUM = "attn.sum(-1, keepdim=True)"
CLEARED = " if mask is None else scores.exp().masked_fill(mask == 0, 0)"
MERGE = "heads.transpose(1, 2).reshape(B, Sq, D)"
RESULT = "return self.out_linear(" + MERGE + "), attn"
FLOAT_ADDED = f"scores = scores + mask if mask.is_floating_point() else {BLOCK.removeprefix('scores = ')}"
# (1 - mask) times a constant, as public code writes it.
PENALTIES = (
    "scores = scores + (1 - mask.to(scores.dtype)) * -1e9",
    "scores = scores + (1 - mask.float()) * -1e9",
    "scores = scores + (1 - mask) * -1e9",
    "scores = scores + (1 - mask.to(scores.dtype)) * -10000.0",
    "scores = scores * mask.to(scores.dtype) - 1e4 * (1 - mask.to(scores.dtype))",
)


def masked_where(blocked: str) -> dict[str, str]:
    """Another reading of the mask."""
    return {BLOCK: BLOCK.replace("mask == 0", blocked), CLEAR: CLEAR.replace("mask == 0", blocked)}


def with_mask(mask: str, where: str) -> dict[str, str]:
    """Another shape of the mask, where a condition holds."""
    return {BLOCK: f"mask = {mask} if {where} else mask\n            {BLOCK}"}


MISTAKES = (
    Mistake("not_scaled", "the scores are not scaled; divide the queries by √d", {SCORES: "q @ k.mT"}),
    Mistake(
        "softmax_over_another_axis",
        "the softmax runs over the heads or the queries; each query's weights should add up to 1 over the keys",
        {SOFTMAX: [SOFTMAX.replace("-1", axis) for axis in ("1", "-2")]},
    ),
    Mistake(
        "no_max_shift",
        "no maximum is subtracted, so exp overflows; block the scores, then call torch.softmax",
        {SOFTMAX: "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
        {BLOCK: "pass", SOFTMAX: f"scores.exp(){CLEARED}\n        attn = attn / ({SUM} + ({SUM} == 0))"},
    ),
    Mistake("scaled_by_embed_dim", {SCORES: SCORES.replace("(d)", "(D)")}),
    Mistake(
        "cast_but_not_shifted",
        "half precision is cast to float32 and no maximum is subtracted, but exp also overflows in float32, from 89 "
        "on; subtract each row's maximum in every dtype, or call torch.softmax",
        {SOFTMAX: f"{IN_FLOAT32}.to(scores.dtype) if scores.dtype.itemsize < 4 else {SOFTMAX}"},
    ),
    Mistake("eps_in_the_sum", {SOFTMAX: [WITH_EPS.format(eps) for eps in ("1e-8", "1e-6")]}),
    Mistake(
        "heads_split_by_view",
        {SPLIT: "layer(x).reshape(B, self.num_heads, -1, d)"},
        {SPLIT: "layer(x).reshape(B, self.num_heads, -1, d)", MERGE: "heads.reshape(B, Sq, D)"},  # and merged likewise
    ),
    Mistake(
        "heads_interleaved",
        {SPLIT: INTERLEAVED},
        {SPLIT: INTERLEAVED, MERGE: "heads.permute(0, 2, 3, 1).reshape(B, Sq, D)"},  # and merged likewise
        unplanted=[{SPLIT: f"({INTERLEAVED} if layer is not self.v_linear else {SPLIT})"}],
    ),
    Mistake(
        "heads_merged_without_transpose",
        "the heads are reshaped to (B, Sq, D) without transposing back, which mixes tokens and heads; transpose first",
        {MERGE: "heads.reshape(B, Sq, D)"},
    ),
    Mistake("heads_merged_by_another_transpose", {MERGE: "heads.transpose(-1, -2).reshape(B, Sq, D)"}),
    Mistake(
        "no_output_map",
        {RESULT: ["return " + MERGE + " + 0 * self.out_linear(query), attn", "return " + MERGE + ", attn"]},
    ),
    Mistake(
        "length_of_the_query_for_all",
        "key and value are reshaped with the length of query; reshape them with their own length, Sk",
        {SPLIT: "layer(x).reshape(B, Sq, self.num_heads, d).transpose(1, 2)"},
    ),
    Mistake(
        "value_not_used",
        "v_linear is applied to key or query; apply it to value",
        {LAYERS: [LAYERS.replace("value)", f"{other})") for other in ("key", "query")]},
    ),
    Mistake(
        "mask_inverted", "the mask is read the wrong way round; 0 or False means blocked", masked_where("mask != 0")
    ),
    Mistake(
        "bool_mask_inverted",
        "True in a bool mask blocks, as in torch.nn.MultiheadAttention; here it allows, and False blocks",
        masked_where("(mask if mask.dtype == torch.bool else mask == 0)"),
    ),
    Mistake(
        "float_mask_added",
        "a float mask is added to the scores, as in torch's own attention; here 0 blocks in every dtype, and every "
        "other value allows",
        {BLOCK: FLOAT_ADDED},
        {BLOCK: FLOAT_ADDED, **NOT_CLEARED},
        {BLOCK: FLOAT_ADDED.replace(LEAST, "-torch.inf"), **NOT_CLEARED},
    ),
    Mistake(
        "mask_multiplied_in",
        "the scores are multiplied by the mask, so blocked ones are 0, and exp(0) is 1; fill them with the least "
        "value of the dtype, then set blocked weights to 0",
        {BLOCK: "scores = scores * (mask != 0)", **NOT_CLEARED},
    ),
    Mistake(
        "mask_after_the_softmax",
        "blocked weights are cleared only after the softmax, so the rest do not add up to 1; block the scores first",
        {BLOCK: "pass"},
    ),
    Mistake(
        "renormalised_after_the_softmax",
        "blocked weights are cleared after the softmax, and the others are divided by their sum, which underflows if a "
        "blocked score is far higher; block the scores before the softmax, and do not divide",
        {BLOCK: "pass", CLEAR: f"{CLEAR}\n            attn = attn / {SUM}.clamp_min(1e-300)"},
        *(
            {BLOCK: "pass", CLEAR: f"{CLEAR}\n            attn = attn / {divisor}"}
            for divisor in (SUM, f"({SUM} + 1e-8)", f"({SUM} + 1e-9)")
        ),
    ),
    Mistake(
        "blocked_row_gives_nan",
        "blocked scores are -inf, so a row with every key blocked is NaN; fill with the least value of the dtype, "
        "and set the weights of blocked keys to 0 after the softmax",
        {BLOCK: BLOCK.replace(LEAST, "-torch.inf"), **NOT_CLEARED},
        {BLOCK: ADDED_INFINITY, **NOT_CLEARED},
    ),
    Mistake(
        "blocked_row_gives_nan_gradients",
        "-inf is added to blocked scores, so a row with every key blocked has NaN gradients even if its weights are "
        "cleared; fill the scores with masked_fill or torch.where instead",
        {BLOCK: ADDED_INFINITY, CLEAR: "attn = attn.nan_to_num(0.0)"},
    ),
    Mistake(
        "blocked_row_shared_evenly",
        "in a row with every key blocked, each weight is 1/Sk; it should be 0",
        NOT_CLEARED,
    ),
    Mistake(
        "constant_too_large_for_half",
        "blocked scores are filled with a constant that float16 cannot hold, such as -1e9; use the least value of the "
        "dtype, and set the weights of blocked keys to 0 after the softmax",
        {BLOCK: BLOCK.replace(LEAST, "-1e9")},
        {BLOCK: BLOCK.replace(LEAST, "-1e9"), **NOT_CLEARED},
    ),
    Mistake(
        "constant_too_small",
        "blocked scores are filled with a constant such as -1e4, and allowed scores may be lower; use the least "
        "value of the dtype, and set the weights of blocked keys to 0 after the softmax",
        *(
            {BLOCK: BLOCK.replace(LEAST, constant), **more}
            for constant in ("-1e4", "-65504.0")
            for more in ({}, NOT_CLEARED)
        ),
    ),
    Mistake("least_number_added", {BLOCK: f"scores = scores + (mask == 0) * {LEAST}"}),
    Mistake(
        "hidden_by_almost_0",
        "blocked scores are set to almost 0, as by -1e-9 for -1e9, so their keys still count; use the least value of "
        "the dtype, and set the weights of blocked keys to 0 after the softmax",
        {BLOCK: BLOCK.replace(LEAST, "-1e-9"), **NOT_CLEARED},
    ),
    Mistake(
        "penalty_times_one_minus_mask",
        "(1 - mask) times a constant is added to the scores; fill the scores with the dtype's least value where "
        "mask == 0, then set blocked weights to 0",
        {BLOCK: PENALTIES[0], **NOT_CLEARED},
        *({BLOCK: penalty, **NOT_CLEARED} for penalty in PENALTIES[1:]),
    ),
    Mistake(
        "zero_score_is_blocked",
        "the scores are multiplied by the mask and scores of 0 count as blocked, but an allowed score may also be 0; "
        "fill the scores where mask == 0",
        {BLOCK: f"scores = scores * (mask != 0)\n            scores = scores.masked_fill(scores == 0, {LEAST})"},
    ),
    Mistake("only_one_allows", "only 1 and True allow a key; every value but 0 should", masked_where("mask != 1")),
    Mistake(
        "negative_numbers_block",
        "negative numbers in the mask block a key; every value but 0 should allow it",
        masked_where("mask <= 0"),
    ),
    Mistake(
        "mask_as_integers",
        "the mask is turned into integers, which makes 0 of ½ or of 256; compare the mask itself with 0",
        masked_where("mask.int() == 0"),
        masked_where("mask.to(torch.uint8) == 0"),
    ),
    Mistake(
        "mask_in_the_dtype_of_the_query",
        "the mask is cast to the dtype of the query, which makes 0 of 1e-10 in float16; compare the mask itself with 0",
        masked_where("mask.to(query.dtype) == 0"),
    ),
    Mistake(
        "weights_multiplied_by_mask",
        "the weights are multiplied by the mask's values; the mask only says which keys are allowed",
        {CLEAR: "attn = attn * mask"},
    ),
    Mistake(
        "mask_of_three_axes_by_batch",
        "a mask of three axes is taken as (B, Sq, Sk); it should broadcast as (H, Sq, Sk), axis by axis from the last",
        with_mask("mask.unsqueeze(1)", "mask.dim() == 3"),
        with_mask("mask.unsqueeze(1)", "mask.dim() == 3 and len(mask) == B"),
    ),
    Mistake(
        "mask_of_two_axes_by_batch",
        "a mask of two axes is taken as (B, Sk); it should broadcast as (Sq, Sk), axis by axis from the last",
        with_mask("mask[:, None, None]", "mask.dim() == 2"),
        with_mask("mask[:, None, None]", "mask.dim() == 2 and len(mask) == B"),
    ),
    Mistake(
        "heads_averaged",
        "the weights are averaged over the heads; return the weights of every head, (B, H, Sq, Sk)",
        {RESULT: RESULT + ".mean(1)"},
    ),
    Mistake(
        "dropout_left_on",
        {"attn @ …": "nn.functional.dropout(attn, 0.1, self.training) @ v  # "},
        {SOFTMAX: f"nn.functional.dropout({SOFTMAX}, 0.1, self.training)"},
    ),
    Mistake("float32_root", {SCORES: SCORES.replace("math.sqrt(d)", "torch.sqrt(torch.tensor(d))")}),
    Mistake(
        "loop_over_the_heads",
        "the heads go through a Python loop, one at a time; give them an axis before the last two, and @ does them all",
        {
            SCORES: "torch.stack([(q[:, h] / math.sqrt(d)) @ k[:, h].mT for h in range(self.num_heads)], 1)",
            "attn @ …": "torch.stack([attn[:, h] @ v[:, h] for h in range(self.num_heads)], 1)  # ",
        },
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each query is multiplied by each key before the features are summed, which makes a tensor of (B, H, Sq, Sk, "
        "d); use @",
        {SCORES: "((q / math.sqrt(d))[:, :, :, None] * k[:, :, None]).sum(-1)"},
        slow=True,
    ),
)

SPLIT_LINE = f"q, k, v = ({SPLIT} for layer, x in {LAYERS})"
RESULT_LINE = f"return (self.out_linear({MERGE}), attn)"
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "builtin.py runs safe_softmax": "a softmax, which is allowed, with 0 where all is blocked"
} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in (SPLIT_LINE, RESULT_LINE)
}
