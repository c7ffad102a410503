"""Known wrong answers to kv_cache."""

from graders.kata import Mistake

SPLIT = "{0} = self.{0}_linear(x).view(B, T, H, d).transpose(1, 2)"
JOIN_K = "k = torch.cat([past_k, k], dim=2)"
JOIN_V = "v = torch.cat([past_v, v], dim=2)"
DIAGONAL = ".tril(S - T)"
SEEN = f"torch.ones(T, S, dtype=torch.bool, device=x.device){DIAGONAL}"
SCORES = "(q / math.sqrt(d)) @ k.mT"
WIDE = "scores.to(torch.promote_types(x.dtype, torch.float32))"
HIDDEN = "scores.masked_fill(~seen, -torch.inf)"
WEIGHTS = f"{HIDDEN}.softmax(-1)"
FLOORED = [f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True).clamp(min={low})).exp()" for low in ("-1e4", "-1e9")]
HEADS = "heads = weights @ v"
MERGE = "heads.transpose(1, 2).reshape(B, T, D)"
RESULT = f"return self.out_linear({MERGE}), (k, v)"
TOKENS_LAST = {RESULT: RESULT.replace("(k, v)", "(k.transpose(1, 2), v.transpose(1, 2))")}
PAST = "past_k, past_v = cache"
K_LINEAR = "self.k_linear = nn.Linear(embed_dim, embed_dim)"
NO_BIAS = K_LINEAR.replace("embed_dim)", "embed_dim, bias=False)")
UNBIASED = (("q", "k", "v"), ("q", "k", "v", "out"))
GROW = '''def grown(past: Tensor, new: Tensor) -> Tensor:
    """Written behind the past, into room that a larger tensor has left."""
    P, S = past.shape[2], past.shape[2] + new.shape[2]
    room = past if past._base is None or past._base.shape[2:3] != (64,) else past._base
    if room.shape[2] != 64 or S > 64:
        room = torch.cat([past, past.new_zeros(*past.shape[:2], max(64, S) - P, past.shape[3])], dim=2)
    room.data[:, :, P:S] = new.detach()
    return room[:, :, :S]


'''


def split(layout: str) -> dict[str, str]:
    return {SPLIT.format(name): f"{name} = self.{name}_linear(x){layout}" for name in "qkv"}


def joined(k: str, v: str) -> dict[str, str]:
    return {JOIN_K: k, JOIN_V: v}


def each(old: str, new: str) -> dict[str, str]:
    return joined(JOIN_K.replace(old, new), JOIN_V.replace(old, new))


NEW_FIRST = joined("k = torch.cat([k, past_k], dim=2)", "v = torch.cat([v, past_v], dim=2)")


def projected_again(name: str) -> str:
    past = f"past_{name}.transpose(1, 2).flatten(2)"
    return f"{name} = self.{name}_linear(torch.cat([{past}, x], dim=1)).view(B, -1, H, d).transpose(1, 2)"


MISTAKES = (
    Mistake(
        "top_left",
        "with a cache, new token t sees only the first t + 1 keys, as if it stood at the start; it stands at P + t, "
        "so shift the mask's diagonal by P",
        {DIAGONAL: ".tril()"},
    ),
    Mistake(
        "top_left_for_several",
        "one new token after a cache sees all keys, but several see only the first ones: their mask begins at the top "
        "left; shift its diagonal by P",
        {DIAGONAL: ".tril(S - T if T == 1 else 0)"},
    ),
    Mistake(
        "length_of_another_axis",
        "the mask takes the number of heads or of their channels for P; in a cache of (B, H, P, d), P is axis 2",
        {DIAGONAL: [f".tril(past_k.shape[{axis}] if cache else 0)" for axis in (1, 3)]},
    ),
    Mistake(
        "no_mask_with_a_cache",
        "with a cache there is no mask, so several new tokens see later ones; leave the mask out only for a single "
        "new token",
        {SEEN: f"{SEEN} | (cache is not None)"},
    ),
    Mistake(
        "no_mask_in_the_prompt",
        "the tokens of the first call see later ones, since they get no mask; a mask is needed with and without a "
        "cache",
        {SEEN: f"{SEEN} | (cache is None)"},
    ),
    Mistake(
        "no_mask",
        "tokens see later ones of the same call; token t should see only the past, earlier new tokens and itself",
        {DIAGONAL: ""},
    ),
    Mistake(
        "next_token_seen",
        "a token also sees the one after it; shift the diagonal by P, and no more",
        {"(S - T)": "(S - T + 1)"},
    ),
    Mistake(
        "itself_hidden",
        {"(S - T)": "(S - T - 1)"},
        {"(S - T)": "(S - T - 1)", HIDDEN: HIDDEN.replace("-torch.inf", "torch.finfo(scores.dtype).min")},
    ),
    Mistake(
        "texts_kept",
        "the layer keeps what it made in every call, so its memory grows with every text; keep nothing in the layer",
        {RESULT: f'self.__dict__.setdefault("kept", []).append((k, v))\n        {RESULT}'},
        slow=True,
    ),
    Mistake(
        "no_mask_in_eval_mode",
        "in eval mode nothing is hidden; use the same mask in both modes",
        {SEEN: f"{SEEN} | (not self.training)"},
    ),
    Mistake(
        "mask_of_the_first_call",
        {SEEN: SEEN.replace("T, S", "1024, 1024").replace(DIAGONAL, ".tril()[S - T : S, :S]")},
    ),
    Mistake(
        "mask_kept_by_length",
        "a mask is kept for each number of keys, but a later call with as many keys and more new tokens finds too few "
        "rows; make the mask anew, or keep it by T and S",
        {SEEN: f'self.__dict__.setdefault("kept", {{}}).setdefault(S, {SEEN})[-T:]'},
    ),
    Mistake(
        "window_of_the_past",
        "only the last keys count, as in a window of 256 or a cache cut to 1,024 tokens; a token sees the whole past, "
        "and all of it is returned",
        *({DIAGONAL: f"{DIAGONAL}.triu(S - T + 1 - {window})"} for window in (256, 512, 1024)),
        *({RESULT: RESULT.replace("(k, v)", f"(k[:, :, -{kept}:], v[:, :, -{kept}:])")} for kept in (256, 512, 1024)),
        {"S = k.shape[2]\n": "k, v = k[:, :, -1024:], v[:, :, -1024:]\n        S = k.shape[2]\n"},
    ),
    Mistake(
        "past_after_the_new",
        "the past is appended after the new tokens; it should come before them",
        NEW_FIRST,
        {**NEW_FIRST, DIAGONAL: ".tril() | (torch.arange(S, device=x.device) >= T)"},  # with a mask for this order
    ),
    Mistake(
        "mask_with_the_past_last",
        "the mask has the columns of the past after the triangle of the new tokens; they should come first, as in the "
        "keys",
        {DIAGONAL: ".tril() | (torch.arange(S, device=x.device) >= T)"},
    ),
    Mistake(
        "not_joined_along_the_tokens",
        "past and new keys or values are not joined along the tokens; join both along axis 2 of (B, H, S, d)",
        each("dim=2", "dim=1"),
        each("dim=2", "dim=-1"),
        {JOIN_V: "pass"},
    ),
    Mistake(
        "cache_not_used",
        "the cache is not used: only new tokens are seen and returned; put its keys and values before the new ones",
        joined("pass", "pass"),
    ),
    Mistake(
        "only_the_new_returned",
        "the returned cache holds only the new tokens; return the keys and values of all tokens so far",
        {RESULT: RESULT.replace("(k, v)", "(k[:, :, S - T :], v[:, :, S - T :])")},
    ),
    Mistake(
        "cache_not_extended",
        "with a cache, the same cache comes back without the new tokens; return the keys and values of all tokens so "
        "far",
        {RESULT: RESULT.replace("(k, v)", "cache or (k, v)")},
    ),
    Mistake(
        "keys_before_values",
        "the keys of the cache are put before the new values; put the values of the cache there",
        {JOIN_V: JOIN_V.replace("past_v", "past_k")},
    ),
    Mistake(
        "heads_merged_in_the_cache",
        "the returned k and v are (B, S, D), not split into heads; return and read them as (B, H, S, d)",
        {
            PAST: "past_k, past_v = (past.reshape(*past.shape[:2], H, d).transpose(1, 2) for past in cache)",
            RESULT: RESULT.replace("(k, v)", "(k.transpose(1, 2).flatten(2), v.transpose(1, 2).flatten(2))"),
        },
    ),
    Mistake(
        "projected_again",
        "keys or values from the cache go through k_linear or v_linear again; map only the new tokens",
        joined(projected_again("k"), projected_again("v")),
        {JOIN_K: projected_again("k")},
        {JOIN_V: projected_again("v")},
    ),
    Mistake(
        "kept_in_the_module",
        "the module keeps the past by itself, and does not read the given cache, which may belong to another "
        "text; use the given cache",
        {
            "self.num_heads = num_heads": "self.num_heads, self.past = num_heads, None",
            PAST: "past_k, past_v = self.past",
            RESULT: f"self.past = k, v\n        {RESULT}",
        },
        {PAST: "past_k, past_v = self.past", RESULT: f"self.past = k, v\n        {RESULT}"},
        {
            "self.num_heads = num_heads": "self.num_heads, self.past = num_heads, None",
            f"cache is not None:\n            {PAST}": "self.past is not None:\n            past_k, past_v = self.past",
            RESULT: f"self.past = k, v\n        {RESULT}",
        },
    ),
    Mistake(
        "tokens_counted_by_the_module",
        "the module counts its tokens by itself, which goes wrong where two texts take turns; take P from the "
        "given cache",
        *[
            {
                "self.num_heads = num_heads": "self.num_heads, self.length = num_heads, 0",
                "S = k.shape[2]\n": "S = k.shape[2]\n        self.length = T if cache is None else self.length + T\n",
                DIAGONAL: f".tril({length} - T)",
            }
            for length in ("self.length", "min(self.length, S)")
        ],
    ),
    Mistake(
        "written_behind_the_past",
        "new keys and values are written into spare memory after the past, where another call with the same cache also "
        "writes; make new tensors with torch.cat",
        {
            "class CachedAttention": f"{GROW}class CachedAttention",
            **joined("k = grown(past_k, k)", "v = grown(past_v, v)"),
        },
        {
            "class CachedAttention": f"{GROW}class CachedAttention",
            **joined(
                *(
                    f"{line} if torch.is_grad_enabled() else grown(past_{line[0]}, {line[0]})"
                    for line in (JOIN_K, JOIN_V)
                )
            ),
        },
    ),
    Mistake(
        "cut_at_the_cache",
        "no gradient flows through the cache to the tokens of earlier calls; leave out detach and no_grad",
        {PAST: "past_k, past_v = (past.detach() for past in cache)"},
        {RESULT: RESULT.replace("(k, v)", "(k.detach(), v.detach())")},
        {JOIN_V: JOIN_V.replace("past_v", "past_v.detach()")},
        {JOIN_K: JOIN_K.replace("past_k", "past_k.detach()")},
    ),
    Mistake(
        "cache_swapped",
        "the returned pair is (v, k); return (k, v), and read the cache in this order",
        {RESULT: RESULT.replace("(k, v)", "(v, k)")},
        {
            RESULT: RESULT.replace("(k, v)", "(v, k)"),
            **joined("k = torch.cat([past_v, k], dim=2)", "v = torch.cat([past_k, v], dim=2)"),
        },
    ),
    Mistake(
        "tokens_before_heads",
        "the returned k and v are (B, S, H, d); return and read them as (B, H, S, d)",
        TOKENS_LAST,
        {**TOKENS_LAST, PAST: "past_k, past_v = (past.transpose(1, 2) for past in cache)"},
    ),
    Mistake(
        "last_token_only",
        "with a cache, only the last new token's output is returned; return the outputs of all T new tokens",
        {
            RESULT: f"last = slice(None) if cache is None else slice(-1, None)\n        "
            f"return self.out_linear({MERGE}[:, last]), (k, v)"
        },
    ),
    Mistake(
        "scaled_keys_kept",
        "the returned keys are divided by √d; divide the scores or the queries, and keep the keys as they are",
        {SPLIT.format("k"): f"{SPLIT.format('k')} / math.sqrt(d)", SCORES: "q @ k.mT"},
        {"S = k.shape[2]\n": "k, S = k / math.sqrt(d), k.shape[2]\n", SCORES: "q @ k.mT"},
    ),
    Mistake("scaled_by_embed_dim", {"(d)": "(D)"}),
    Mistake("not_scaled", {SCORES: "q @ k.mT"}),
    Mistake("scaled_by_the_length", {"math.sqrt(d)": "math.sqrt(k.shape[2])"}),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"(q / math.sqrt(d))": "(q * torch.tensor(d**-0.5))"},
    ),
    Mistake(
        "heads_split_by_view",
        "(B, T, D) is viewed as (B, H, T, d), which mixes tokens and heads; view it as (B, T, H, d), then transpose",
        split(".view(B, H, T, d)"),
    ),
    Mistake("heads_interleaved", split(".view(B, T, d, H).permute(0, 3, 1, 2)")),
    Mistake(
        "heads_merged_without_transpose",
        "the heads are reshaped to (B, T, D) without transposing back, which mixes tokens and heads; transpose first",
        {MERGE: "heads.reshape(B, T, D)"},
    ),
    Mistake("no_output_map", {f"self.out_linear({MERGE})": MERGE}),
    Mistake(
        "map_without_bias",
        "at least one of the four linear maps has no bias; all of them should have one",
        {K_LINEAR: NO_BIAS},
        *({K_LINEAR.replace("k_", f"{n}_"): NO_BIAS.replace("k_", f"{n}_") for n in names} for names in UNBIASED),
    ),
    Mistake(
        "bias_of_the_keys_left_out",
        "k is made without k_linear's bias: no output shows it, but the keys are returned; call the layer, which adds "
        "its bias",
        {"k = self.k_linear(x)": "k = nn.functional.linear(x, self.k_linear.weight)"},
    ),
    Mistake(
        "hidden_by_1e9",
        {HIDDEN: HIDDEN.replace("-torch.inf", "-1e9")},
        {WEIGHTS: f"({WIDE} - 1e9 * ~seen).softmax(-1).to(x.dtype)"},
    ),
    Mistake("hidden_by_1e4", {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e4"), "(scores - 1e4 * ~seen)"]}),
    Mistake("hidden_by_almost_0", {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e-9"), "(scores + ~seen * -1e-9)"]}),
    Mistake("hidden_by_0", {HIDDEN: "(scores * seen)"}),
    Mistake("masked_after_softmax", {WEIGHTS: "scores.softmax(-1) * seen"}),
    Mistake("zero_scores_hidden", {HIDDEN: "(scores * seen).masked_fill(scores * seen == 0, -torch.inf)"}),
    Mistake("hidden_by_plus_infinity", {HIDDEN: HIDDEN.replace("-", "")}),
    Mistake("maximum_floored", {WEIGHTS: [f"(lambda e: e / e.sum(-1, keepdim=True))({e})" for e in FLOORED]}),
    Mistake("maximum_not_subtracted", {WEIGHTS: f"(lambda e: e / e.sum(-1, keepdim=True))({HIDDEN}.exp())"}),
    Mistake(
        "softmax_over_queries",
        "the softmax runs over the new tokens; it should run over the keys",
        {"softmax(-1)": "softmax(-2)"},
    ),
    Mistake("dropout_left_on", {HEADS: "heads = nn.functional.dropout(weights, 0.1, self.training) @ v"}),
    Mistake(
        "head_by_head",
        {HEADS: "heads = torch.stack([weights[:, h] @ v[:, h] for h in range(H)], dim=1)"},
        slow=True,
    ),
    Mistake(
        "token_by_token",
        "a loop multiplies one new token at a time; one @ does all of them",
        {HEADS: "heads = torch.cat([weights[:, :, t : t + 1] @ v for t in range(T)], dim=2)"},
        slow=True,
    ),
    Mistake(
        "scores_of_all_tokens",
        "scores of the old queries are computed again and thrown away; score only the queries of the new tokens",
        {
            SCORES: "(torch.cat([q.new_zeros(B, H, S - T, d), q], dim=2) / math.sqrt(d)) @ k.mT",
            HIDDEN: "scores[:, :, S - T :].masked_fill(~seen, -torch.inf)",
        },
        slow=True,
    ),
    Mistake("table_of_products", {SCORES: "((q / math.sqrt(d)).unsqueeze(3) * k.unsqueeze(2)).sum(-1)"}, slow=True),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    "builtin.py runs where": "it picks one of two values; hiding scores by it is a usual right answer",
    f"seen = {SEEN} -> seen = {SEEN.replace(', device=x.device', '')}": (
        "on the CPU the mask is made on the device of x anyway; on a GPU the call raises"
    ),
} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in (*map(SPLIT.format, "qkv"), f"return (self.out_linear({MERGE}), (k, v))")
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis 0 of weights": "four maps",
    "axis 0 of biases": "four maps",
    "axis * of past": "one past of 1,100 tokens, beyond a mask of 1,024; a past that a call returned has any size",
    "*after": "which call each text continues: of seven calls, two or three have the same past",
}
