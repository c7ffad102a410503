"""Known wrong answers to causal_attention."""

from graders.kata import Mistake

ALL_SEEN = "torch.ones(Sq, Sk, dtype=torch.bool, device=q.device)"
DIAGONAL = ".tril(Sk - Sq)"
PADDED = "seen = seen & key_mask[:, None, None]"
SCORES = "(q / math.sqrt(d)) @ k.mT"
HIDDEN = "scores.masked_fill(~seen, -torch.inf)"
WEIGHTS = f"{HIDDEN}.softmax(-1)"
CLEAR = "weights = weights.masked_fill(~seen, 0)"
NOT_CLEARED = {CLEAR: "pass"}
ADDED = "(scores + torch.zeros_like(scores).masked_fill(~seen, -torch.inf)).softmax(-1)"
LEAST_ADDED = "(scores + (~seen).to(q.dtype) * torch.finfo(scores.dtype).min).softmax(-1)"
TIMES, EMPTY = "(scores + ~seen * -torch.inf)", "~seen.any(-1, keepdim=True)"
DIVIDED = "weights = weights * seen\n    weights = weights / (weights.sum(-1, keepdim=True){})"
SHIFTED = "(scores - scores.amax(-1, keepdim=True))"
FLOORED = f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True).clamp(min=-1e4)).exp()"
AS_LOW_AS_FITS = "-6e4 if q.dtype == torch.float16 else -1e9"
CONSTANTS = [HIDDEN.replace("-torch.inf", low) for low in ("-1e4", "-5e4", "-65504.0")]
CONSTANTS += ["(scores - 1e4 * ~seen)"]
LEAST = "torch.finfo(scores.dtype).min"
CAUSAL_LOWERED = f"(~{ALL_SEEN}{DIAGONAL}).to(q.dtype) * {LEAST}"
PADDING_LOWERED = f"(0 if key_mask is None else (~key_mask).to(q.dtype)[:, None, None] * {LEAST})"
BOTH_ADDED = f"(scores + {CAUSAL_LOWERED} + {PADDING_LOWERED})"
NO_ZEROS = "(scores * seen).masked_fill(scores * seen == 0, LOW)"
KEY_MASK_ADDED = "(scores if key_mask is None else scores + key_mask[:, None, None].to(q.dtype))"
SHARES = "weights = weights / (weights.sum(-1, keepdim=True) + {})"
RESULT = "return weights @ v"
WIDE = {SCORES: "(q.double() / math.sqrt(d)) @ k.mT.double()", RESULT: "return (weights @ v.double()).to(q.dtype)"}
BY_QUERY = """rows = []
    for i in range(Sq):
        rows.append(weights[:, :, i : i + 1] @ v)
    return torch.cat(rows, dim=2)"""
BY_HEAD = """heads = []
    for h in range(H):
        heads.append(weights[:, h] @ v[:, h])
    return torch.stack(heads, dim=1)"""
OWN = "key_mask[:, None, Sk - Sq :, None]"  # whether each query itself is a real token

MISTAKES = (
    Mistake(
        "top_left",
        "with fewer queries than keys, query 0 sees only key 0; the queries are the last positions, "
        "so shift the diagonal by Sk − Sq",
        {DIAGONAL: ".tril()"},
    ),
    Mistake(
        "itself_hidden",
        "a query does not see the key at its own position; it should see j ≤ i + Sk − Sq, its own position included",
        {DIAGONAL: ".tril(Sk - Sq - 1)"},
        {DIAGONAL: ".tril(Sk - Sq - 1)", **NOT_CLEARED},
    ),
    Mistake(
        "next_token_seen",
        "a query also sees the key right after its own position; it should see j ≤ i + Sk − Sq and no more",
        {DIAGONAL: ".tril(Sk - Sq + 1)"},
    ),
    Mistake(
        "future_seen",
        "every query sees all later keys; hide those with j > i + Sk − Sq",
        {DIAGONAL: ""},
    ),
    Mistake(
        "past_hidden",
        "a query sees its own position and later ones; it should see its own and earlier ones",
        {DIAGONAL: ".triu(Sk - Sq)"},
    ),
    Mistake(
        "mask_of_the_first_call",
        {f"{ALL_SEEN}{DIAGONAL}": f"{ALL_SEEN.replace('Sq, Sk', '1024, 1024')}.tril()[Sk - Sq : Sk, :Sk]"},
    ),
    Mistake(
        "seen_keys_hidden",
        "the keys that a query should see are hidden; masked_fill fills where its mask is True",
        {HIDDEN: HIDDEN.replace("~", "")},
        {HIDDEN: HIDDEN.replace("~", ""), **NOT_CLEARED},
        {HIDDEN: HIDDEN.replace("~", ""), CLEAR: "weights = weights.nan_to_num()"},
    ),
    Mistake(
        "future_seen_with_key_mask",
        "key_mask replaces the causal mask, so later keys are seen; a key must pass both masks",
        {PADDED: "seen = key_mask[:, None, None].expand(B, 1, Sq, Sk)"},
    ),
    Mistake(
        "either_mask",
        "a key is seen if one of the two masks allows it; it must pass both",
        {PADDED: PADDED.replace("&", "|")},
    ),
    Mistake("padding_seen", "key_mask changes nothing; hide the keys where it is False", {PADDED: "pass"}),
    Mistake(
        "key_mask_inverted",
        "key_mask is read the wrong way round; True is a real token, False is padding",
        {PADDED: PADDED.replace("key_mask", "~key_mask")},
        {PADDED: PADDED.replace("key_mask", "~key_mask"), **NOT_CLEARED},
    ),
    Mistake(
        "key_mask_over_heads",
        "the first axis of key_mask is taken for the heads, but it is the batch; use key_mask[:, None, None, :]",
        {PADDED: PADDED.replace("[:, None, None]", "[None, :, None]")},
    ),
    Mistake(
        "key_mask_repeated",
        "key_mask is repeated as a whole for each head, so its rows meet other samples; use "
        "key_mask[:, None, None, :], or repeat_interleave",
        {PADDED: "seen = seen & key_mask.repeat(H, 1).reshape(B, H, 1, Sk)"},
    ),
    Mistake(
        "key_mask_of_one_sample",
        "every sample is given the first sample's padding; each has its own row of key_mask",
        {PADDED: PADDED.replace("[:,", "[:1,")},
    ),
    Mistake(
        "key_mask_over_queries",
        "key_mask hides queries instead of keys; it belongs to the last axis of the scores",
        {PADDED: f"seen = seen & {OWN}"},
        {PADDED: "seen = seen & key_mask[:, None, :, None]", **NOT_CLEARED},
    ),
    Mistake(
        "key_mask_without_axes",
        "key_mask (B, Sk) meets the last two axes of the scores, so its rows are taken for queries; "
        "give it axes for heads and queries: key_mask[:, None, None, :]",
        {PADDED: "seen = seen & key_mask"},
        {PADDED: "seen = seen & key_mask", **NOT_CLEARED},
    ),
    Mistake(
        "padded_queries_cleared",
        "a padded query gets zeros although it sees real keys; key_mask only says which keys are seen",
        {PADDED: f"{PADDED}\n        seen = seen & {OWN}"},
    ),
    Mistake(
        "padding_on_the_diagonal",
        "key_mask spares the diagonal, where padding sees padding; hide padded keys everywhere, and give zeros where "
        "no key is left",
        {PADDED: f"{PADDED} | seen.triu(Sk - Sq)"},
    ),
    Mistake(
        "scores_times_mask",
        "scores are multiplied by the mask, and a score of 0 still has a share; set hidden scores to −∞, then hidden "
        "weights to 0",
        {HIDDEN: "(scores * seen)", **NOT_CLEARED},
        {HIDDEN: "(scores * seen)"},
    ),
    Mistake(
        "zero_scores_hidden",
        {HIDDEN: [NO_ZEROS.replace("LOW", low) for low in ("-torch.inf", LEAST)]},
        {HIDDEN: NO_ZEROS.replace("LOW", "-torch.inf"), CLEAR: "weights = weights.nan_to_num()"},
        {HIDDEN: NO_ZEROS.replace("LOW", LEAST), **NOT_CLEARED},
    ),
    Mistake(
        "mask_times_infinity",
        "the mask is multiplied by −∞, and 0 · ∞ is NaN; fill with −∞ where a key is hidden, then set "
        "hidden weights to 0",
        {HIDDEN: TIMES},
        {HIDDEN: TIMES, **NOT_CLEARED},
        {HIDDEN: f"{TIMES}.masked_fill({EMPTY}, 0)", CLEAR: f"weights = weights.masked_fill({EMPTY}, 0)"},
    ),
    Mistake(
        "masked_after_softmax",
        {WEIGHTS: "scores.softmax(-1)"},
        {PADDED: "pass", CLEAR: "weights = weights if key_mask is None else weights * key_mask[:, None, None]"},
    ),
    Mistake(
        "padded_keys_zeroed",
        "padded keys and values are set to 0, but a score of 0 still has a share; hide the scores of padded keys",
        {PADDED: "k, v = (each * key_mask[:, None, :, None] for each in (k, v))"},
    ),
    Mistake(
        "eps_in_the_sum",
        "the exponentials are divided by their sum plus a small number, which changes the weights; divide by the sum "
        "alone, and give a query that sees no key weights of 0",
        {WEIGHTS: f"{SHIFTED}.exp() * seen", CLEAR: [SHARES.format(eps) for eps in ("1e-9", "1e-8")]},
        {WEIGHTS: "scores.exp() * seen", CLEAR: SHARES.format("1e-9")},
    ),
    Mistake(
        "divided_after_softmax",
        "hidden weights are cleared after the softmax, and the rest is divided by its sum, which is about 0 if a "
        "hidden score is far higher; first fill hidden scores with the dtype's minimum, and do not divide",
        {WEIGHTS: "scores.softmax(-1)", CLEAR: f"{CLEAR}\n    weights = weights / weights.sum(-1, keepdim=True)"},
        {WEIGHTS: "scores.softmax(-1)", CLEAR: DIVIDED.format(".clamp_min(1e-12)")},
        {WEIGHTS: "scores.softmax(-1)", CLEAR: [DIVIDED.format(least) for least in (".clamp_min(1e-12)", " + 1e-9")]}
        | WIDE,
    ),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"(q / math.sqrt(d))": "(q * torch.tensor(d**-0.5))"},
    ),
    Mistake(
        "hidden_by_1e9",
        {HIDDEN: HIDDEN.replace("-torch.inf", "-1e9")},
        {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e9"), "(scores - 1e9 * ~seen)"], **WIDE},
    ),
    Mistake(
        "least_number_added",
        {WEIGHTS: LEAST_ADDED},
        {WEIGHTS: LEAST_ADDED, CLEAR: "weights = weights * seen"},
        {HIDDEN: BOTH_ADDED},
        {HIDDEN: BOTH_ADDED, **NOT_CLEARED},
    ),
    Mistake(
        "lowered_by_1e9",
        "1e9 is subtracted from hidden scores, so a query that sees no key averages all values; fill with −∞, then set "
        "hidden weights to 0",
        {HIDDEN: ["(scores + (1 - seen.to(q.dtype)) * -1e9)", "(scores - 1e9 * ~seen)"], **NOT_CLEARED},
    ),
    Mistake(
        "hidden_by_almost_0",
        {HIDDEN: HIDDEN.replace("-torch.inf", "-1e-9"), **NOT_CLEARED},
        {HIDDEN: "(scores + ~seen * -1e-9)", **NOT_CLEARED},
    ),
    Mistake(
        "hidden_by_1e4",
        *(
            {HIDDEN: CONSTANTS, **clear}
            for clear in ({}, NOT_CLEARED, {CLEAR: f"weights = weights.masked_fill({EMPTY}, 0)"})
        ),
        {HIDDEN: HIDDEN.replace("-torch.inf", AS_LOW_AS_FITS), **NOT_CLEARED},
    ),
    Mistake(
        "hidden_by_plus_infinity", {HIDDEN: HIDDEN.replace("-", "")}, {HIDDEN: HIDDEN.replace("-", ""), **NOT_CLEARED}
    ),
    Mistake(
        "maximum_floored",
        {
            WEIGHTS: FLOORED,
            CLEAR: [f"weights = weights / weights.sum(-1, keepdim=True){least}" for least in ("", ".clamp(min=1e-6)")],
        },
    ),
    Mistake(
        "key_mask_added",
        "key_mask is added to the scores as 0 and 1, which hides nothing; fill with −∞ where it is False",
        {
            PADDED: "pass",
            HIDDEN: HIDDEN.replace("scores", KEY_MASK_ADDED),
        },
    ),
    Mistake("scaled_by_the_length", {"math.sqrt(d)": "math.sqrt(Sk)"}),
    Mistake(
        "not_scaled",
        "the scores are not divided by √d; divide q by it",
        {SCORES: "q @ k.mT"},
    ),
    Mistake("scaled_by_d", {"math.sqrt(d)": "d"}),
    Mistake(
        "scaled_by_dv",
        {"math.sqrt(d)": "math.sqrt(v.shape[-1])"},
    ),
    Mistake(
        "scaled_late",
        "in float16, q kᵀ overflows before it is divided by √d; divide q first",
        {SCORES: "q @ k.mT / math.sqrt(d)"},
        {SCORES: "q @ k.mT / math.sqrt(d)", CLEAR: "weights = weights.nan_to_num()"},
    ),
    Mistake(
        "empty_rows_are_nan",
        "a query that sees no key gets NaN, the softmax of nothing but −∞; set its weights to 0",
        NOT_CLEARED,
    ),
    Mistake(
        "empty_rows_are_averages",
        "a query that sees no key gets the average of all values; set its weights to 0",
        {HIDDEN: HIDDEN.replace("-torch.inf", "torch.finfo(scores.dtype).min"), **NOT_CLEARED},
    ),
    Mistake(
        "nan_gradients",
        "a bias of −∞ is added to the scores, and the gradient of a query that sees no key is NaN even if its "
        "result is cleared; use masked_fill, whose gradient is 0 there",
        {WEIGHTS: ADDED},
        {WEIGHTS: ADDED, CLEAR: "weights = weights.nan_to_num()"},
    ),
    Mistake(
        "result_cleared",
        "the NaN of a query that sees no key is cleared only from the result, and the gradient of v is NaN; "
        "clear the weights",
        {CLEAR: "pass", RESULT: "return (weights @ v).nan_to_num()"},
    ),
    Mistake(
        "softmax_over_queries",
        {".softmax(-1)": ".softmax(-2)"},
        {".softmax(-1)": ".softmax(-2)", **NOT_CLEARED},
    ),
    Mistake("maximum_not_subtracted", {WEIGHTS: f"(lambda e: e / e.sum(-1, keepdim=True))({HIDDEN}.exp())"}),
    Mistake(
        "query_by_query",
        "a loop multiplies one query at a time; one @ does all of them",
        {RESULT: BY_QUERY},
        slow=True,
    ),
    Mistake("head_by_head", {RESULT: BY_HEAD}, slow=True),
    Mistake("table_of_products", {SCORES: "((q / math.sqrt(d)).unsqueeze(3) * k.unsqueeze(2)).sum(-1)"}, slow=True),
)

FIXED = {"axis [01] of key_mask": "it has B rows of Sk, and both are drawn where it is None"}
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    "builtin.py runs safe_softmax": "a softmax, which is allowed, that gives 0 where all is hidden",
    "builtin.py runs where": "it picks one of two values; hiding scores by it is a usual right answer",
    f"seen = {ALL_SEEN}{DIAGONAL} -> seen = {ALL_SEEN.replace(', device=q.device', '')}{DIAGONAL}": (
        "on the CPU the mask is made on the device of q anyway; on a GPU the call raises"
    ),
}
