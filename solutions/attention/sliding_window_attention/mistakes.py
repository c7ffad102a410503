"""Known wrong answers to sliding_window_attention."""

from graders.kata import Mistake

LIMIT = "window = min(window, S - 1)"
AHEAD = "0 if causal else window"
BLOCK = "block = max(window, 1)"
WITHIN = "(j >= i - window) & (j <= i + ahead)"
REAL = " & (j >= 0) & (j < S)"
SCORES = "(q / math.sqrt(d)) @ k"
HIDDEN = "scores.masked_fill(~seen, -torch.inf)"
WEIGHTS = f"{HIDDEN}.softmax(-1)"
RESULT = "return (weights @ v.mT).flatten(2, 3)[:, :, :S]"
ALL = f"{LIMIT}…{RESULT}"
KEYS = "k = F.pad(k, (0, 0, window, tail + ahead))"
VALUES = "v = F.pad(v, (0, 0, window, tail + ahead))"
AROUND = "{0} = {0}[:, :, torch.arange(-window, n * block + ahead, device=q.device) % S]"
PADDED_AROUND = (
    "{0} = F.pad({0}, (0, 0, 0, tail))[:, :, torch.arange(-window, n * block + ahead, device=q.device) % (n * block)]"
)
QUERIES = "i = first + torch.arange(block, device=q.device)[:, None]"
LEAST = "torch.finfo(scores.dtype).min"
NO_ZEROS = "(scores * seen).masked_fill(scores * seen == 0, LOW)"
ABS_SUM = "(lambda e: e / (e.sum(-1, keepdim=True){}))({}.exp(){})"
WHOLE = """at = torch.arange(S, device=q.device)
    behind = at[:, None] - at
    seen = (behind <= window) & (behind >= (0 if causal else -window))
    scores = (q / math.sqrt(d)) @ k.mT
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v"""
EACH_QUERY = f"""{LIMIT}
    ahead = {AHEAD}
    k = F.pad(k, (0, 0, window, ahead)).unfold(2, window + 1 + ahead, 1)
    v = F.pad(v, (0, 0, window, ahead)).unfold(2, window + 1 + ahead, 1)
    j = torch.arange(S, device=q.device)[:, None] + torch.arange(-window, ahead + 1, device=q.device)
    scores = ((q / math.sqrt(d))[:, :, :, None] @ k)[:, :, :, 0]
    weights = scores.masked_fill((j < 0) | (j >= S), -torch.inf).softmax(-1)
    return (weights[:, :, :, None] @ v.mT)[:, :, :, 0]"""
EACH_BLOCK = f"""rows = []
    for b in range(n):
        rows.append({WEIGHTS.replace("scores", "scores[:, :, b]").replace("seen", "seen[b]")} @ v[:, :, b].mT)
    return torch.stack(rows, 2).flatten(2, 3)[:, :, :S]"""
EACH_SLICE = """rows = []
    for start in range(0, S, 16):
        stop = min(start + 16, S)
        low, high = max(start - window, 0), stop if causal else min(stop + window, S)
        behind = torch.arange(start, stop, device=q.device)[:, None] - torch.arange(low, high, device=q.device)
        seen = (behind <= window) & (behind >= (0 if causal else -window))
        scores = (q[:, :, start:stop] / math.sqrt(d)) @ k[:, :, low:high].mT
        rows.append(scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v[:, :, low:high])
    return torch.cat(rows, 2)"""
EACH_DISTANCE = f"""{LIMIT}
    ahead = {AHEAD}
    k, v = F.pad(k, (0, 0, window, ahead)), F.pad(v, (0, 0, window, ahead))
    j = torch.arange(S, device=q.device)[:, None] + torch.arange(-window, ahead + 1, device=q.device)
    scores = []
    for t in range(window + 1 + ahead):
        scores.append((q / math.sqrt(d) * k[:, :, t : t + S]).sum(-1))
    weights = torch.stack(scores, -1).masked_fill((j < 0) | (j >= S), -torch.inf).softmax(-1)
    return sum(weights[..., t : t + 1] * v[:, :, t : t + S] for t in range(window + 1 + ahead))"""

WHOLE_HIDDEN = "scores.masked_fill(~seen, -torch.inf)"
BOTH_SPANS = {
    "ahead = 0 if causal else window": "ahead = window",
    "(j <= i + ahead)": "(j <= i + window * (not causal))",
}


def whole(old: str, new: str) -> dict[str, str]:
    """A mistake in the formula that makes all S × S scores."""
    return {ALL: WHOLE.replace(old, new)}


def spread(*texts: str) -> list[dict[str, str]]:
    """Ways to hide, or not to: with a span to both sides even if causal, and with all S × S scores."""
    return [form for text in texts for form in ({HIDDEN: text} | BOTH_SPANS, whole(WHOLE_HIDDEN, text))]


MISTAKES = (
    Mistake(
        "window_counts_itself",
        "keys exactly `window` away are hidden, as if the window counted the query itself; a query sees "
        "|i − j| ≤ window, both ends included",
        {WITHIN: "(j > i - max(window, 1)) & (j < i + max(ahead, 1))"},
        {WITHIN: "(j > i - window) & (j < i + max(ahead, 1))"},
        {WITHIN: f"{WITHIN} & ((j > i - max(window, 1)) | (not causal))"},
        {WITHIN: f"{WITHIN} & ((j > i - window) | (not causal))"},
        {LIMIT: "window = min(window, S)", WITHIN: "(j > i - max(window, 1)) & (j < i + max(ahead, 1))"},
        {LIMIT: "window = min(window, S)", WITHIN: "(j > i - window) & (j < i + max(ahead, 1))"},
        unplanted=({WITHIN: "(j > i - window) & (j < i + max(ahead, 1))", WEIGHTS: f"{WEIGHTS}.nan_to_num()"},),
    ),
    Mistake(
        "one_key_more",
        "a query sees a key that is window + 1 away; it should see |i − j| ≤ window and no more",
        {LIMIT: "window = min(window + 1, S - 1)"},
        {WITHIN: "(j >= i - window) & (j <= i + ahead + 1)"},
        {WITHIN: "(j >= i - window - 1) & (j <= i + ahead)"},
        {WITHIN: "(j >= i - window) & (j <= i + ahead + (ahead > 0))"},
    ),
    Mistake(
        "window_halved",
        "the window is split between the two sides; a query sees `window` keys on each side",
        {LIMIT: "window = min(window // 2, S - 1)"},
        {LIMIT: "window = min((window + 1) // 2, S - 1)"},
        {LIMIT: "window = min(window, S - 1) // 2"},
        {LIMIT: "window = min(window if causal else window // 2, S - 1)"},
        {LIMIT: "window = min(window if causal else (window + 1) // 2, S - 1)"},
    ),
    Mistake(
        "later_keys_hidden",
        "without causal, a query does not see later keys; it should see `window` keys on each side",
        {AHEAD: "0"},
    ),
    Mistake(
        "causal_ignored",
        "with causal, a query still sees later keys; hide those with j > i",
        {AHEAD: "window"},
    ),
    Mistake(
        "causal_inverted",
        "causal hides the wrong side, or is read the wrong way round; with causal a query sees itself and earlier keys",
        {AHEAD: "window if causal else 0"},
        {"ahead = 0 if causal else window": "ahead = window", "j >= i - window": "j >= i - (0 if causal else window)"},
        {
            "ahead = 0 if causal else window": "ahead = window",
            "j >= i - window": "j >= i - (0 if causal else window)",
            WEIGHTS: f"{WEIGHTS}.masked_fill(~seen, 0)",
        },
    ),
    Mistake(
        "itself_hidden",
        {WITHIN: f"{WITHIN} & (j != i)"},
        {WITHIN: "(j >= i - window) & (j <= i + ahead - int(causal))"},
        {WITHIN: f"{WITHIN} & (j != i)", WEIGHTS: f"{WEIGHTS}.nan_to_num()"},
        {WITHIN: "(j >= i - window) & (j <= i + ahead - int(causal))", WEIGHTS: f"{WEIGHTS}.nan_to_num()"},
    ),
    Mistake(
        "padding_seen",
        "the zeros that pad the ends get a share of the softmax; hide keys before 0 and after S − 1",
        {REAL: ""},
        {REAL: " & (j >= 0)"},
        {REAL: " & (j < S)"},
    ),
    Mistake(
        "whole_span_seen",
        "every query of a block sees all of the block's keys, some further away than the window; compare each query's "
        "own position with the keys'",
        {f"{WITHIN} & (j >= 0)": "(j >= 0)"},
        {WITHIN: "(j <= i + ahead)"},
        {WITHIN: "((j <= i) | (not causal))"},
        {WITHIN: "(j >= i - window)"},
    ),
    Mistake(
        "one_window_for_a_block",
        "all queries of a block get one query's window, such as the first one's; each has its own",
        {QUERIES: "i = first.expand(n, block, 1)"},
        {QUERIES: "i = first.expand(n, block, 1) + block // 2"},
        {QUERIES: "i = first.expand(n, block, 1) + block - 1"},
    ),
    Mistake(
        "own_block_only",
        "a query sees only keys of its own block, though the window reaches into others; give each block its "
        "neighbours' keys",
        {WITHIN: f"{WITHIN} & (j // block == i // block)"},
    ),
    Mistake(
        "next_block_hidden",
        "without causal, a query does not see the next block's keys within its window; give each block the keys "
        "after it as well",
        {WITHIN: f"{WITHIN} & (j // block <= i // block)"},
    ),
    Mistake(
        "block_before_hidden",
        "a query does not see keys of the block before its own; give each block the keys before it as well",
        {WITHIN: f"{WITHIN} & (j // block >= i // block)"},
    ),
    Mistake(
        "mask_one_off",
        "the mask's positions of the keys are one off from the keys; count both from the same end of the padding",
        {"torch.arange(span, device=q.device) - window": "torch.arange(span, device=q.device) - window + 1"},
        {"torch.arange(span, device=q.device) - window": "torch.arange(span, device=q.device) - window - 1"},
    ),
    Mistake(
        "ends_joined",
        "the sequence is taken for a ring, as by torch.roll, so the first queries see the last keys; the window ends "
        "where the sequence ends",
        {KEYS: AROUND.format("k"), VALUES: AROUND.format("v"), REAL: ""},
        {KEYS: AROUND.format("k"), VALUES: AROUND.format("v"), REAL: " & (j < S)"},
        unplanted=[{KEYS: PADDED_AROUND.format("k"), VALUES: PADDED_AROUND.format("v"), REAL: ""}],
    ),
    Mistake(
        "values_padded_otherwise",
        "values are padded by other lengths than keys, so weights meet other tokens' values; pad both alike",
        {VALUES: "v = F.pad(v, (0, 0, ahead, tail + window))"},
        {VALUES: "v = F.pad(v, (0, 0, 0, tail + ahead + window))"},
    ),
    Mistake(
        "rest_dropped",
        "the last tokens, which do not fill a block, are left out; pad the last block, and cut its result",
        {"math.ceil(S / block)": "S // block", RESULT: f"{RESULT[:-10]}.contiguous()"},
        {"math.ceil(S / block)": "S // block", RESULT: f"return F.pad({RESULT[7:-10]}, (0, 0, 0, -tail))"},
        unplanted=[
            {
                "math.ceil(S / block)": "S // block",
                KEYS: "k = F.pad(k[:, :, : n * block], (0, 0, window, ahead))",
                VALUES: "v = F.pad(v[:, :, : n * block], (0, 0, window, ahead))",
                RESULT: f"return F.pad({RESULT[7:-10]}, (0, 0, 0, -tail))",
                **real,
            }
            for real in ({}, {REAL: " & (j >= 0) & (j < n * block)"})
        ],
    ),
    Mistake(
        "blocks_of_64",
        "the window is cut off where it is longer than a block of fixed length, such as 64 tokens, and its neighbours; "
        "let the span grow with the window",
        {WITHIN: f"{WITHIN} & ((i // 64 - j // 64).abs() <= 1)"},
        {WITHIN: f"{WITHIN} & ((i // 128 - j // 128).abs() <= 1)"},
        {LIMIT: "window = min(window, S - 1, 64)"},
    ),
    Mistake(
        "nan_gradients",
        "padded queries at the end see no key and get NaN; their result is cut off, but the gradient of v is NaN; give "
        "such rows some finite score",
        {BLOCK: ["block = 64", "block = 16", "block = 2 * window + 1", "block = window + 8"]},
    ),
    Mistake(
        "no_limit_of_the_window",
        "a window beyond the sequence makes blocks and padding of its own length; use min(window, S − 1)",
        {LIMIT: "pass"},
    ),
    Mistake(
        "minus_one_sees_all",
        "a window of −1 is taken for no limit, as flash-attn does; raise ValueError for any window below 0",
        {'raise ValueError(f"window should be at least 0, got {window}")': "window = S"},
    ),
    Mistake("hidden_by_0", {HIDDEN: "(scores * seen)"}, unplanted=spread("(scores * seen)")),
    Mistake(
        "zero_scores_hidden",
        {HIDDEN: [NO_ZEROS.replace("LOW", low) for low in ("-torch.inf", LEAST)]},
        {WEIGHTS: f"{NO_ZEROS.replace('LOW', '-torch.inf')}.softmax(-1).nan_to_num()"},
        {
            "ahead = 0 if causal else window": "ahead = window",
            WITHIN: f"{WITHIN} & ((j <= i) | (not causal))",
            HIDDEN: NO_ZEROS.replace("LOW", LEAST),
        },
    ),
    Mistake(
        "mask_times_infinity",
        "the mask is multiplied by −∞, and 0 · ∞ is NaN; fill with −∞ where a key is hidden",
        {HIDDEN: "(scores + ~seen * -torch.inf)"},
    ),
    Mistake(
        "masked_after_softmax",
        {WEIGHTS: "scores.softmax(-1) * seen"},
        unplanted=[
            {WEIGHTS: "scores.softmax(-1) * seen"} | BOTH_SPANS,
            whole(f"{WHOLE_HIDDEN}.softmax(-1)", "(scores.softmax(-1) * seen)"),
        ],
    ),
    Mistake(
        "divided_after_softmax",
        "hidden weights are cleared after the softmax, and the rest is divided by its sum, which is about 0 if a "
        "hidden score is far higher; hide scores before the softmax",
        {WEIGHTS: "scores.softmax(-1) * seen\n    weights = weights / weights.sum(-1, keepdim=True)"},
        {WEIGHTS: "scores.softmax(-1) * seen\n    weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)"},
    ),
    Mistake(
        "hidden_by_1e9",
        {HIDDEN: HIDDEN.replace("-torch.inf", "-1e9")},
        {
            SCORES: "(q.double() / math.sqrt(d)) @ k.double()",
            HIDDEN: ["(scores - 1e9 * ~seen)", HIDDEN.replace("-torch.inf", "-1e9")],
            RESULT: "return (weights.to(q.dtype) @ v.mT).flatten(2, 3)[:, :, :S]",
        },
        unplanted=spread(HIDDEN.replace("-torch.inf", "-1e9")),
    ),
    Mistake(
        "hidden_by_1e4",
        {HIDDEN: [HIDDEN.replace("-torch.inf", low) for low in ("-1e4", "-5e4", "-65504.0")]},
        {HIDDEN: "(scores - 1e4 * ~seen)"},
        unplanted=spread(HIDDEN.replace("-torch.inf", "-1e4"), "(scores - 1e4 * ~seen)"),
    ),
    Mistake("hidden_by_almost_0", {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e-9"), "(scores + ~seen * -1e-9)"]}),
    Mistake("hidden_by_plus_infinity", {HIDDEN: HIDDEN.replace("-", "")}),
    Mistake(
        "maximum_floored",
        {WEIGHTS: ABS_SUM.format("", f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True).clamp(min=-1e4))", "")},
    ),
    Mistake(
        "eps_in_the_sum",
        {
            WEIGHTS: [
                ABS_SUM.format(f" + {eps}", f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True))", "")
                for eps in ("1e-9", "1e-8", "1e-6")
            ]
        },
    ),
    Mistake(
        "maximum_not_subtracted",
        {WEIGHTS: ABS_SUM.format("", HIDDEN, "")},
        {WEIGHTS: ABS_SUM.format("", "scores", " * seen")},
        {WEIGHTS: [ABS_SUM.format(least, HIDDEN, "") for least in (".clamp_min(1e-30)", " + 1e-9")]},
    ),
    Mistake("softmax_over_queries", {".softmax(-1)": ".softmax(-2)"}, {".softmax(-1)": ".softmax(-2).nan_to_num()"}),
    Mistake("not_scaled", {SCORES: "q @ k"}),
    Mistake("scaled_by_d", {"math.sqrt(d)": "d"}),
    Mistake(
        "scaled_by_dv",
        {"math.sqrt(d)": "math.sqrt(v.shape[-2])"},
    ),
    Mistake(
        "scaled_by_the_span",
        "the scores are divided by the root of the number of keys in a block's span or window; divide them by √d",
        {"math.sqrt(d)": ["math.sqrt(span)", "math.sqrt(window + 1 + ahead)", "math.sqrt(2 * window + 1)"]},
    ),
    Mistake(
        "scaled_late",
        "in float16, q kᵀ overflows before it is divided by √d; divide q first",
        {SCORES: "q @ k / math.sqrt(d)"},
    ),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"(q / math.sqrt(d))": "(q * torch.tensor(d**-0.5))"},
    ),
    Mistake(
        "all_pairs",
        "all S × S scores are made, and most of them hidden; score each block of queries against the keys near it",
        {ALL: WHOLE},
        slow=True,
    ),
    Mistake(
        "keys_for_each_query",
        "each query gets its own copy of all keys and values in its window, S · window · d numbers; let a block of "
        "queries share them",
        {ALL: EACH_QUERY},
        slow=True,
    ),
    Mistake(
        "block_by_block",
        "a loop takes one block at a time; give the blocks an axis, and one @ does all of them",
        {RESULT: EACH_BLOCK},
        {ALL: EACH_SLICE},
        slow=True,
    ),
    Mistake(
        "distance_by_distance",
        "a loop takes one distance of the window at a time; one @ scores a block against all keys of its span",
        {ALL: EACH_DISTANCE},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{LIMIT} -> window = min(S - 1, window)": "the smaller one of two",
    f"{LIMIT} -> window = min(window, S + 1)": "no key is further away than S − 1; the window may be a little longer",
    f"{LIMIT} -> window = min(window, S - 0)": "no key is further away than S − 1; the window may be a little longer",
    f"{BLOCK} -> block = max(1, window)": "the larger one of two",
    "builtin.py runs safe_softmax": "a softmax, which is allowed, that gives 0 where all is hidden",
    "builtin.py runs where": "it picks one of two values; hiding scores by it is a usual right answer",
} | {
    f"{line} -> {line.replace(', device=q.device', '')}": (
        "on the CPU the positions are made on the device of q anyway; on a GPU the call raises"
    )
    for line in (
        "first = torch.arange(n, device=q.device)[:, None, None] * block",
        QUERIES,
        "j = first + torch.arange(span, device=q.device) - window",
    )
}
