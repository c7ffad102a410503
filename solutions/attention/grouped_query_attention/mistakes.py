"""Known wrong answers to grouped_query_attention."""

from graders.kata import Mistake

SPLIT = {
    "q": "q = self.q_linear(x).view(B, S, H, d).transpose(1, 2)",
    "k": "k = self.k_linear(x).view(B, S, G, d).transpose(1, 2)",
    "v": "v = self.v_linear(x).view(B, S, G, d).transpose(1, 2)",
}
SHARE_K = "k = k.repeat_interleave(H // G, dim=1)"
SHARE_V = "v = v.repeat_interleave(H // G, dim=1)"
TILE_K, TILE_V = (f"{name} = {name}.repeat(1, H // G, 1, 1)" for name in "kv")
DIAGONAL = ".tril()"
HIDE = "scores = scores.masked_fill(~seen, -torch.inf)"
WIDE = "scores.to(torch.promote_types(x.dtype, torch.float32))"
WEIGHTS = "scores.softmax(-1)"
FLOORED = [f"(scores - scores.amax(-1, keepdim=True).clamp(min={low})).exp()" for low in ("-1e4", "-1e9")]
HEADS = f"heads = {WEIGHTS} @ v"
MERGE = "heads.transpose(1, 2).reshape(B, S, D)"
ONE_GROUP = "scores[:, g * H // G : (g + 1) * H // G].softmax(-1) @ v[:, g : g + 1]"


def split(layout: str) -> dict[str, str]:
    """All three maps, with another layout of their channels; N stands for the number of heads."""
    return {
        SPLIT[name]: f"{name} = self.{name}_linear(x){layout.replace('N', heads)}"
        for name, heads in zip("qkv", "HGG", strict=True)
    }


REPEATED = {name: f"self.{name}_linear(x).repeat_interleave(H // G, dim=-1)" for name in "kv"}
SEEN = "torch.ones(S, S, dtype=torch.bool, device=x.device).tril()"

STACKED = "scores.view(B, G, -1, S).masked_fill(~seen, -torch.inf).view(B, H, S, S)"

MISTAKES = (
    Mistake(
        "heads_tiled",
        "query head h reads key head h % G, as after repeat; it should read key head h // (H / G), as after "
        "repeat_interleave",
        {SHARE_K: TILE_K, SHARE_V: TILE_V},
        {
            SPLIT["q"]: "q = self.q_linear(x).view(B, S, H // G, G, d).permute(0, 3, 2, 1, 4).reshape(B, H, S, d)",
            MERGE: "heads.view(B, G, H // G, S, d).permute(0, 3, 2, 1, 4).reshape(B, S, D)",
        },
    ),
    Mistake(
        "channels_repeated",
        "each channel of k and v is repeated, as by repeat_interleave on the last axis, so a head has few channels, "
        "each several times; split into heads first, then repeat the heads",
        {
            **{SPLIT[n]: f"{n} = {n_repeated}.view(B, S, H, d).transpose(1, 2)" for n, n_repeated in REPEATED.items()},
            SHARE_K: "pass",
            SHARE_V: "pass",
        },
    ),
    Mistake(
        "queries_averaged",
        "the queries that share a head of keys are averaged; each query head should have its own scores",
        {SPLIT["q"]: f"{SPLIT['q']}\n        q = q.unflatten(1, (G, -1)).mean(2).repeat_interleave(H // G, dim=1)"},
    ),
    Mistake(
        "only_keys_tiled",
        "a query head's keys and its values come from different groups; both should belong to group h // (H / G)",
        {SHARE_K: TILE_K},
        {SHARE_V: TILE_V},
    ),
    Mistake(
        "values_not_shared",
        "keys or values are not repeated for all heads of queries, so the sizes do not fit; use repeat_interleave on "
        "both",
        {SHARE_V: "pass"},
        {SHARE_K: "pass"},
        {SHARE_K: "pass", SHARE_V: "pass"},
    ),
    Mistake(
        "first_group_for_all",
        "all query heads read the first head of keys and values; query head h should read head h // (H / G)",
        {SHARE_K: "k = k[:, :1]", SHARE_V: "v = v[:, :1]"},
    ),
    Mistake(
        "groups_in_reverse",
        "the first query heads read the last key head; query head h should read key head h // (H / G)",
        {SHARE_K: f"{SHARE_K}.flip(1)", SHARE_V: f"{SHARE_V}.flip(1)"},
    ),
    Mistake(
        "merged_in_another_order",
        "the results of the heads are merged in another order; keep the order of the query heads",
        {MERGE: "heads.view(B, G, H // G, S, d).permute(0, 3, 2, 1, 4).reshape(B, S, D)"},
    ),
    Mistake(
        "queries_in_another_order",
        "the channels of q are split as (H / G, G, d), so the queries of one head get the place of another head; "
        "split them as (G, H / G, d), or simply (H, d)",
        {SPLIT["q"]: "q = self.q_linear(x).view(B, S, H // G, G, d).permute(0, 3, 2, 1, 4).reshape(B, H, S, d)"},
    ),
    Mistake(
        "weights_averaged",
        "the weights of the query heads that share keys are averaged; each query head should have its own",
        {WEIGHTS: f"{WEIGHTS}.view(B, G, H // G, S, S).mean(2).repeat_interleave(H // G, dim=1)"},
    ),
    Mistake("scaled_by_the_length", {"math.sqrt(d)": "math.sqrt(S)"}),
    Mistake("scaled_by_embed_dim", {"math.sqrt(d)": "math.sqrt(D)"}),
    Mistake(
        "scaled_by_the_width_of_keys",
        "the scores are divided by √(G·d), the root of the width of all keys; use √d, the root of one head's width",
        {"math.sqrt(d)": "math.sqrt(G * d)"},
    ),
    Mistake(
        "scaled_by_a_head_of_keys",
        "the scores are divided by √(D / G), as if G heads shared the D channels; use √(D / H)",
        {"math.sqrt(d)": "math.sqrt(D / G)"},
    ),
    Mistake("not_scaled", {"(q / math.…": "q @ k.mT"}),
    Mistake("scaled_by_d", {"math.sqrt(d)": "d"}),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"(q / math.sqrt(d))": "(q * torch.tensor(d**-0.5))"},
    ),
    Mistake(
        "heads_split_by_view",
        "for N heads, (B, S, N·d) is viewed as (B, N, S, d), which mixes tokens and heads; view it as (B, S, N, d), "
        "then transpose",
        split(".view(B, N, S, d)"),
    ),
    Mistake(
        "heads_interleaved",
        "of N heads, head h takes every N-th channel; it should take d neighbouring ones, so view the channels as "
        "(N, d), not (d, N)",
        split(".view(B, S, d, N).permute(0, 3, 1, 2)"),
        {SPLIT[n]: f"{n} = self.{n}_linear(x).view(B, S, d, G).permute(0, 3, 1, 2)" for n in "kv"},
    ),
    Mistake("heads_merged_without_transpose", {MERGE: "heads.reshape(B, S, D)"}),
    Mistake("heads_merged_by_another_transpose", {MERGE: "heads.transpose(-1, -2).reshape(B, S, D)"}),
    Mistake("no_output_map", {f"self.out_linear({MERGE})": [f"{MERGE} + 0 * self.out_linear(x)", MERGE]}),
    Mistake("causal_ignored", "causal changes nothing; hide later keys if it is True", {HIDE: "pass"}),
    Mistake(
        "always_causal",
        "later keys are hidden even if causal is False; hide them only if it is True",
        {"        if causal:\n": "        if True:\n"},
    ),
    Mistake(
        "itself_hidden",
        "if causal, a token does not see itself; it should",
        {DIAGONAL: ".tril(-1)"},
        {DIAGONAL: ".tril(-1)", HIDE: HIDE.replace("-torch.inf", "torch.finfo(scores.dtype).min")},
    ),
    Mistake("next_token_seen", "if causal, a token also sees the next token; hide that one", {DIAGONAL: ".tril(1)"}),
    Mistake(
        "past_hidden",
        "if causal, a token sees itself and later ones; it should see itself and earlier ones",
        {DIAGONAL: ".triu()"},
    ),
    Mistake(
        "mask_over_stacked_rows",
        "the queries that share keys are stacked, H / G · S rows, and the mask does not begin anew with each head; "
        "each needs the same (S, S) mask: mask.repeat(H // G, 1)",
        {SEEN: SEEN.replace("S, S", "H // G * S, S"), HIDE: f"scores = {STACKED}"},
        {SEEN: f"{SEEN}.repeat_interleave(H // G, dim=0)", HIDE: f"scores = {STACKED}"},
    ),
    Mistake(
        "masked_after_softmax",
        {HIDE: "pass", HEADS: f"heads = {WEIGHTS}.masked_fill((~seen if causal else scores > torch.inf), 0) @ v"},
    ),
    Mistake(
        "mask_of_the_first_call",
        {f"seen = {SEEN}": f'seen = self.__dict__.setdefault("kept", {SEEN})[:S, :S]'},
    ),
    Mistake(
        "hidden_by_1e9",
        {HIDE: HIDE.replace("-torch.inf", "-1e9")},
        {HIDE: f"scores = {WIDE} - 1e9 * ~seen", WEIGHTS: f"{WEIGHTS}.to(x.dtype)"},
    ),
    Mistake("hidden_by_1e4", {HIDE: [HIDE.replace("-torch.inf", "-1e4"), "scores = scores - 1e4 * ~seen"]}),
    Mistake(
        "hidden_by_almost_0",
        {HIDE: [HIDE.replace("-torch.inf", "-1e-9"), "scores = scores + ~seen * -1e-9"]},
    ),
    Mistake("hidden_by_0", {HIDE: "scores = scores * seen"}),
    Mistake("softmax_over_queries", {WEIGHTS: "scores.softmax(-2)"}),
    Mistake("hidden_by_plus_infinity", {HIDE: HIDE.replace("-", "")}),
    Mistake("maximum_floored", {WEIGHTS: [f"(lambda e: e / e.sum(-1, keepdim=True))({e})" for e in FLOORED]}),
    Mistake("maximum_not_subtracted", {WEIGHTS: "(scores.exp() / scores.exp().sum(-1, keepdim=True))"}),
    Mistake("dropout_left_on", {WEIGHTS: f"nn.functional.dropout({WEIGHTS}, 0.1, self.training)"}),
    Mistake(
        "group_by_group",
        "a loop multiplies one group at a time; one @ does all of them",
        {SHARE_V: "pass", HEADS: f"heads = torch.cat([{ONE_GROUP} for g in range(G)], dim=1)"},
        slow=True,
    ),
    Mistake(
        "table_of_products",
        {"(q / math.…": "((q / math.sqrt(d)).unsqueeze(3) * k.unsqueeze(2)).sum(-1)"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"seen = {SEEN} -> seen = {SEEN.replace(', device=x.device', '')}": (
        "on the CPU the mask is made on the device of x anyway; on a GPU the call raises"
    ),
} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in (*SPLIT.values(), f"return self.out_linear({MERGE})")
}
