"""Known wrong answers to multi_head_attention."""

from graders.kata import Mistake

CHECK = "        if embed_dim % num_heads != 0:\n"
RAISE = '            raise ValueError(f"num_heads should divide embed_dim={embed_dim}, got {num_heads}")\n'
SPLIT = "layer(x).unflatten(-1, (self.num_heads, d)).transpose(1, 2)"
LAYERS = "((self.q_linear, query), (self.k_linear, key), (self.v_linear, value))"
SCORES = "(q / math.sqrt(d)) @ k.mT"
BLOCK = "scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
IF_MASKED = "        if mask is not None:\n"
CLEAR = (
    "            attn = attn.masked_fill(mask == 0, 0)  # where every key is blocked, the softmax gave 1/Sk to each\n"
)
HEADS = "attn @ v  # "
MERGE = "heads.transpose(1, 2).reshape(B, Sq, D)"
RESULT = "return self.out_linear(" + MERGE + "), attn"
LEAST = "torch.finfo(scores.dtype).min"
NOT_CLEARED = {CLEAR: "            pass\n"}
RENORMALISED = "            attn = attn / attn.sum(-1, keepdim=True)"
FLOAT_ADDED = "scores = scores + mask if mask.is_floating_point() else "
# (1 - mask) times a constant, as public code writes it.
PENALTIES = (
    "scores = scores + (1 - mask.to(scores.dtype)) * -1e9",
    "scores = scores + (1 - mask.float()) * -1e9",
    "scores = scores + (1 - mask) * -1e9",
    "scores = scores + (1 - mask.to(scores.dtype)) * -10000.0",
    "scores = scores * mask.to(scores.dtype) - 1e4 * (1 - mask.to(scores.dtype))",
)

MISTAKES = (
    Mistake(
        "scaled_by_embed_dim",
        "the scores are divided by √embed_dim; use √(embed_dim / num_heads), the size of one head",
        {SCORES: SCORES.replace("(d)", "(D)")},
    ),
    Mistake(
        "scaled_by_number_of_heads",
        "the scores are divided by the root of the number of heads; use the size of one head",
        {SCORES: SCORES.replace("(d)", "(self.num_heads)")},
    ),
    Mistake(
        "not_scaled",
        "the scores are not scaled; divide them by √(embed_dim / num_heads)",
        {SCORES: "q @ k.mT"},
    ),
    Mistake(
        "scaled_without_root",
        "the scores are divided by the size of one head; divide them by its square root",
        {SCORES: "(q / d) @ k.mT"},
    ),
    Mistake(
        "heads_split_by_view",
        "(B, S, D) is viewed as (B, H, S, d), which mixes tokens and heads; view it as (B, S, H, d), then transpose",
        {SPLIT: "layer(x).reshape(B, self.num_heads, -1, d)"},
    ),
    Mistake(
        "heads_interleaved",
        "head h takes every H-th channel; it should take d neighbours, so view the channels as (H, d), not (d, H)",
        {SPLIT: "layer(x).unflatten(-1, (d, self.num_heads)).permute(0, 3, 1, 2)"},
    ),
    Mistake(
        "heads_merged_without_transpose",
        "the heads are reshaped to (B, Sq, D) without transposing back, which mixes tokens and heads; transpose first",
        {MERGE: "heads.reshape(B, Sq, D)"},
    ),
    Mistake(
        "heads_merged_interleaved",
        "the heads' channels are interleaved on the way out; put head after head, (H, d) before flattening",
        {MERGE: "heads.permute(0, 2, 3, 1).reshape(B, Sq, D)"},
    ),
    Mistake(
        "one_head_only",
        "all channels are one head; split them into num_heads heads, each with weights of its own",
        {
            SPLIT: "layer(x).unflatten(-1, (1, D)).transpose(1, 2)",
            "d = D // self.num_heads": "d = D",
            RESULT: RESULT.removesuffix("attn") + "attn.expand(-1, self.num_heads, -1, -1)",
        },
    ),
    Mistake(
        "no_output_map",
        "out_linear is not applied; map the merged heads with it",
        {RESULT: "return " + MERGE + " + 0 * self.out_linear(query), attn"},
        also=({RESULT: "return " + MERGE + ", attn"},),
    ),
    Mistake(
        "keys_from_query",
        "the keys are made from query; make them from key",
        {LAYERS: LAYERS.replace("_linear, key)", "_linear, query)"), BLOCK: BLOCK + "[..., : k.shape[2]]"},
    ),
    Mistake(
        "values_from_key",
        "the values are made from key; make them from value",
        {LAYERS: LAYERS.replace(", value)", ", key)")},
    ),
    Mistake(
        "one_map_for_keys_and_values",
        "k_linear makes the values too; use v_linear for them",
        {LAYERS: LAYERS.replace("v_linear", "k_linear")},
    ),
    Mistake(
        "length_of_the_query_for_all",
        "key and value are reshaped with the length of query; each has a length of its own",
        {SPLIT: "layer(x).reshape(B, Sq, self.num_heads, d).transpose(1, 2)"},
    ),
    Mistake(
        "softmax_over_the_queries",
        "the softmax runs over the queries; each query's weights should add up to 1 over the keys, the last axis",
        {SOFTMAX: SOFTMAX.replace("-1", "-2")},
    ),
    Mistake(
        "softmax_over_the_heads",
        "the softmax runs over the heads; it should run over the keys, the last axis",
        {SOFTMAX: SOFTMAX.replace("-1", "1")},
    ),
    Mistake(
        "no_max_shift",
        "the softmax is written out without subtracting the largest score, so exp overflows; subtract each row's "
        "maximum, or call torch.softmax",
        {SOFTMAX: "scores.exp() / scores.exp().sum(-1, keepdim=True).clamp_min(1e-30)"},
    ),
    Mistake(
        "mask_inverted",
        "the mask is read the wrong way round; 0 or False means blocked",
        {BLOCK: BLOCK.replace("==", "!="), CLEAR: CLEAR.replace("==", "!=")},
    ),
    Mistake(
        "mask_ignored",
        "the mask is ignored; block the keys where it is 0",
        {BLOCK: "pass", CLEAR: "            pass\n"},
    ),
    Mistake(
        "mask_added",
        "the mask is added to the scores as it is; where it is 0, the key should get no weight",
        {BLOCK: "scores = scores + mask", CLEAR: "            pass\n"},
    ),
    Mistake(
        "float_mask_added",
        "a float mask is added to the scores, as in torch's own attention; here 0 blocks in every dtype, and any "
        "other value only allows",
        {BLOCK: FLOAT_ADDED + BLOCK.removeprefix("scores = ")},
        also=(
            {BLOCK: FLOAT_ADDED + BLOCK.removeprefix("scores = "), **NOT_CLEARED},
            {BLOCK: FLOAT_ADDED + BLOCK.removeprefix("scores = ").replace(LEAST, "-torch.inf"), **NOT_CLEARED},
        ),
    ),
    Mistake(
        "mask_multiplied_in",
        "the scores are multiplied by the mask, which leaves a score of 0, and exp(0) is 1; use -inf for blocked keys",
        {BLOCK: "scores = scores * (mask != 0)", CLEAR: "            pass\n"},
    ),
    Mistake(
        "mask_after_the_softmax",
        "blocked weights are cleared after the softmax only, so the rest do not add up to 1; block the scores first",
        {BLOCK: "pass"},
    ),
    Mistake(
        "renormalised_after_the_softmax",
        "blocked weights are cleared after the softmax and the others divided by their sum, which underflows where a "
        "blocked score is far above them; block the scores before the softmax",
        {
            BLOCK: "pass",
            CLEAR: CLEAR + RENORMALISED + ".clamp_min(1e-300)\n",
        },
        also=tuple(
            {BLOCK: "pass", CLEAR: CLEAR + RENORMALISED.replace("attn.sum(-1, keepdim=True)", divisor) + "\n"}
            for divisor in (
                "attn.sum(-1, keepdim=True)",
                "(attn.sum(-1, keepdim=True) + 1e-8)",
                "(attn.sum(-1, keepdim=True) + 1e-9)",
            )
        ),
    ),
    Mistake(
        "blocked_row_gives_nan",
        "blocked scores are -inf, and in a row without any other the softmax is NaN; the weights should be 0 there",
        {BLOCK: BLOCK.replace(LEAST, "-torch.inf"), **NOT_CLEARED},
        also=({BLOCK: "scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, -torch.inf)", **NOT_CLEARED},),
    ),
    Mistake(
        "blocked_row_gives_nan_gradients",
        "-inf is added to blocked scores and the NaN of a fully blocked row replaced after the softmax, but its "
        "gradient stays NaN; fill the scores with masked_fill or where, which stop it, or give such rows finite scores",
        {
            BLOCK: "scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, -torch.inf)",
            CLEAR: "            attn = attn.nan_to_num(0.0)\n",
        },
    ),
    Mistake(
        "blocked_row_shared_evenly",
        "a row with every key blocked gets 1/Sk for each of them; it should get 0",
        {CLEAR: "            pass\n"},
    ),
    Mistake(
        "blocked_row_ignores_the_mask",
        "a row with every key blocked attends to all of them; it should attend to none",
        {
            BLOCK: "mask = (mask != 0) | ~(mask != 0).any(-1, keepdim=True)\n            " + BLOCK,
        },
    ),
    Mistake(
        "blocked_row_without_bias",
        "a query with every key blocked gets an output of zero; it should get out_linear's bias",
        {
            RESULT: "output = self.out_linear(" + MERGE + ")\n        if mask is not None:\n"
            "            output = output * ((mask != 0).expand_as(attn).any(-1).any(1))[..., None]\n"
            "        return output, attn"
        },
    ),
    Mistake(
        "constant_too_large_for_half",
        "blocked scores are filled with a constant that float16 cannot hold, such as -1e9; use -inf, or the least "
        "value of the dtype",
        {BLOCK: BLOCK.replace(LEAST, "-1e9")},
    ),
    Mistake(
        "constant_too_large_and_not_cleared",
        "blocked scores are filled with a constant that float16 cannot hold, such as -1e9, and a row with every key "
        "blocked gets 1/Sk for each of them; use the least value of the dtype, and set such rows to 0",
        {BLOCK: BLOCK.replace(LEAST, "-1e9"), **NOT_CLEARED},
    ),
    Mistake(
        "constant_too_small",
        "blocked scores are filled with a constant such as -1e4, and allowed ones may be lower; use -inf, or the least "
        "value of the dtype",
        {BLOCK: BLOCK.replace(LEAST, "-1e4")},
    ),
    Mistake(
        "constant_too_small_and_not_cleared",
        "blocked scores are filled with a constant such as -1e4, and allowed ones may be lower; besides, a row with "
        "every key blocked gets 1/Sk for each of them; use the least value of the dtype, and set such rows to 0",
        {BLOCK: BLOCK.replace(LEAST, "-1e4"), **NOT_CLEARED},
    ),
    Mistake(
        "penalty_times_one_minus_mask",
        "(1 - mask) times a constant is added to the scores, which is right for 0 and 1 only, and a row with every key "
        "blocked is not cleared; fill the scores where mask == 0, and set such rows to 0 after the softmax",
        {BLOCK: PENALTIES[0], **NOT_CLEARED},
        also=tuple({BLOCK: penalty, **NOT_CLEARED} for penalty in PENALTIES[1:]),
    ),
    Mistake(
        "penalty_keeps_blocked_rows",
        "a constant is added to blocked scores, so that a row with every key blocked still attends to them; "
        "set such rows to 0 after the softmax",
        {BLOCK: "scores = scores + (mask == 0).to(scores.dtype) * -1e9", **NOT_CLEARED},
        also=({BLOCK: "scores = scores + (mask == 0) * -1e9", **NOT_CLEARED},),
    ),
    Mistake(
        "finite_penalty_added",
        "a number such as 10 is subtracted from blocked scores, which leaves them some weight; use -inf, or the "
        "dtype's minimum",
        {BLOCK: "scores = scores - 10 * (mask == 0)", CLEAR: "            pass\n"},
    ),
    Mistake(
        "only_one_allows",
        "only 1 and True allow a key; every value but 0 should",
        {BLOCK: BLOCK.replace("== 0", "!= 1"), CLEAR: CLEAR.replace("== 0", "!= 1")},
    ),
    Mistake(
        "negative_values_block",
        "values of the mask below 0 block a key; only 0 and False should",
        {BLOCK: BLOCK.replace("== 0", "<= 0"), CLEAR: CLEAR.replace("== 0", "<= 0")},
    ),
    Mistake(
        "mask_made_integer",
        "the mask is turned into integers, so that fractions become 0 and block; compare it with 0 as it is",
        {BLOCK: BLOCK.replace("mask ==", "mask.int() =="), CLEAR: CLEAR.replace("mask ==", "mask.int() ==")},
    ),
    Mistake(
        "mask_made_bytes",
        "the mask is turned into bytes, so that 256 becomes 0 and blocks; compare it with 0 as it is",
        {BLOCK: BLOCK.replace("mask ==", "mask.byte() =="), CLEAR: CLEAR.replace("mask ==", "mask.byte() ==")},
    ),
    Mistake(
        "weights_multiplied_by_mask",
        "the weights are multiplied by the mask's values; the mask only says which keys are allowed",
        {CLEAR: "            attn = attn * mask\n"},
    ),
    Mistake(
        "mask_of_three_axes_by_batch",
        "a mask of three axes is taken as (B, Sq, Sk); it should broadcast as (H, Sq, Sk), axis by axis from the last",
        {BLOCK: "mask = mask.unsqueeze(1) if mask.dim() == 3 else mask\n            " + BLOCK},
        also=(
            {BLOCK: "mask = mask.unsqueeze(1) if mask.dim() == 3 and len(mask) == B else mask\n            " + BLOCK},
        ),
    ),
    Mistake(
        "mask_of_two_axes_by_batch",
        "a mask of two axes is taken as (B, Sk); it should broadcast as (Sq, Sk), axis by axis from the last",
        {BLOCK: "mask = mask[:, None, None] if mask.dim() == 2 else mask\n            " + BLOCK},
        also=(
            {BLOCK: "mask = mask[:, None, None] if mask.dim() == 2 and len(mask) == B else mask\n            " + BLOCK},
        ),
    ),
    Mistake(
        "mask_required",
        "mask has no default; it should be None, which blocks nothing",
        {"mask: Tensor | None = None": "mask: Tensor | None"},
    ),
    Mistake(
        "heads_averaged",
        "the weights are averaged over the heads; return those of every head, (B, H, Sq, Sk)",
        {RESULT: RESULT + ".mean(1)"},
    ),
    Mistake(
        "scores_returned",
        "the scores are returned in place of the weights; return what the softmax gives",
        {RESULT: RESULT.removesuffix("attn") + "scores"},
    ),
    Mistake(
        "weights_before_clearing",
        "the weights are returned as they were before blocked rows were cleared; return those that multiply the values",
        {IF_MASKED + CLEAR: "        raw = attn\n" + IF_MASKED + CLEAR, RESULT: RESULT.removesuffix("attn") + "raw"},
    ),
    Mistake(
        "only_the_output",
        "the output comes back alone; return the tuple (output, attn)",
        {RESULT: RESULT.removesuffix(", attn")},
    ),
    Mistake(
        "weights_detached",
        "the returned weights are detached, so a loss on them trains nothing; return them as they are",
        {RESULT: RESULT + ".detach()"},
    ),
    Mistake(
        "attention_detached",
        "the weights are detached before they multiply the values, so queries and keys learn nothing from the output; "
        "do not detach them",
        {HEADS: "attn.detach() @ v  # "},
    ),
    Mistake(
        "dropout_left_on",
        "dropout changes the weights while the module trains; leave it out",
        {HEADS: "nn.functional.dropout(attn, 0.1, self.training) @ v  # "},
        also=({SOFTMAX: f"nn.functional.dropout({SOFTMAX}, 0.1, self.training)"},),
    ),
    Mistake(
        "residual_added",
        "query is added to the output; return what out_linear gives",
        {RESULT: RESULT.replace("return ", "return query + ")},
    ),
    Mistake(
        "float32_inside",
        "the softmax is done in float32 whatever comes in; keep float64 as it is",
        {SOFTMAX: "torch.softmax(scores, dim=-1, dtype=torch.float32).to(scores.dtype)"},
    ),
    Mistake(
        "float32_root",
        "√d is taken of a tensor, which makes it float32 and spoils float64; use math.sqrt or ** 0.5",
        {SCORES: SCORES.replace("math.sqrt(d)", "torch.sqrt(torch.tensor(d))")},
    ),
    Mistake(
        "mask_overwritten",
        "the caller's mask is changed in place; make a new tensor",
        {RESULT: "if mask is not None:\n            mask.logical_not_()\n        " + RESULT},
        also=({BLOCK: "mask[mask != 0] = 1\n            " + BLOCK},),
    ),
    Mistake(
        "layers_without_bias",
        "the linear maps are made without a bias; leave nn.Linear's default",
        {
            f"{name} = nn.Linear(embed_dim, embed_dim)": f"{name} = nn.Linear(embed_dim, embed_dim, bias=False)"
            for name in ("q_linear", "k_linear", "v_linear", "out_linear")
        },
    ),
    Mistake(
        "no_check_of_heads",
        "a num_heads that does not divide embed_dim is accepted; raise ValueError in the constructor",
        {CHECK + RAISE: ""},
    ),
    Mistake(
        "only_too_many_heads_refused",
        "only a num_heads above embed_dim is refused; refuse every one that does not divide it",
        {CHECK: "        if num_heads > embed_dim:\n"},
    ),
    Mistake(
        "too_many_heads_accepted",
        "a num_heads above embed_dim is accepted; it does not divide embed_dim either",
        {CHECK: "        if embed_dim > num_heads and embed_dim % num_heads != 0:\n"},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own attention does the work; write it by hand",
        {HEADS: "nn.functional.scaled_dot_product_attention(q, k, v, None if mask is None else mask != 0)  # "},
    ),
    Mistake(
        "calls_the_module",
        "nn.MultiheadAttention does the work; write it by hand",
        {
            "        d = D // self.num_heads\n": """\
        d = D // self.num_heads
        layers = (self.q_linear, self.k_linear, self.v_linear)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        if mask is None:
            output, attn = nn.functional.multi_head_attention_forward(
                query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), D, self.num_heads, weight, bias,
                None, None, False, 0.0, self.out_linear.weight, self.out_linear.bias, average_attn_weights=False,
            )
            return output.transpose(0, 1), attn
""",
        },
    ),
    Mistake(
        "loop_over_the_heads",
        "the heads go through a Python loop, one at a time; give them an axis before the last two, and @ does them all",
        {
            SCORES: "torch.stack([(q[:, h] / math.sqrt(d)) @ k[:, h].mT for h in range(self.num_heads)], 1)",
            HEADS: "torch.stack([attn[:, h] @ v[:, h] for h in range(self.num_heads)], 1)  # ",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_sequences",
        "the sequences go through a Python loop, one at a time; @ multiplies the matrices of a whole batch",
        {
            SCORES: "torch.stack([(q[i] / math.sqrt(d)) @ k[i].mT for i in range(B)])",
            HEADS: "torch.stack([attn[i] @ v[i] for i in range(B)])  # ",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_the_queries",
        "each query has a turn of its own in a Python loop; Q Kᵀ holds the scores of all of them",
        {
            SCORES: "torch.cat([(q[:, :, i : i + 1] / math.sqrt(d)) @ k.mT for i in range(Sq)], 2)",
            HEADS: "torch.cat([attn[:, :, i : i + 1] @ v for i in range(Sq)], 2)  # ",
        },
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each query is multiplied by each key before the features are summed, which takes (B, H, Sq, Sk, d); use @",
        {SCORES: "((q / math.sqrt(d))[:, :, :, None] * k[:, :, None]).sum(-1)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
SPLIT_LINE = f"q, k, v = ({SPLIT} for layer, x in {LAYERS})"
RESULT_LINE = f"return (self.out_linear({MERGE}), attn)"

EQUIVALENT: dict[str, str] = {
    f"{SPLIT_LINE} -> {SPLIT_LINE.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2",
    f"{RESULT_LINE} -> {RESULT_LINE.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2",
}
