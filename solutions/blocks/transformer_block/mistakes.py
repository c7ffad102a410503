"""Known wrong answers to transformer_block."""

from graders.kata import Mistake

NORMED = "normed = self.ln1(x)"
SPLIT = "{0} = self.{0}_linear(normed).view(B, S, H, d).transpose(1, 2)"
DIAGONAL = ".tril()"
SEEN = f"torch.ones(S, S, dtype=torch.bool, device=x.device){DIAGONAL}"
WIDE = "scores.to(torch.promote_types(x.dtype, torch.float32))"
HIDDEN = "scores.masked_fill(~seen, -torch.inf)"
WEIGHTS = f"{HIDDEN}.softmax(-1)"
FLOORED = [f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True).clamp(min={low})).exp()" for low in ("-1e4", "-1e9")]
HEADS = "heads = weights @ v"
MERGE = "heads.transpose(1, 2).reshape(B, S, D)"
MAPPED = f"self.out_linear({MERGE})"
FIRST = f"x = x + {MAPPED}"
HIDDEN_LAYER = "self.fc1(self.ln2(x))"
GELU = f'F.gelu({HIDDEN_LAYER}, approximate="tanh")'
RESULT = "return x + self.fc2(hidden)"
UNBIASED = (
    "(x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() * self.ln{0}.weight + self.ln{0}.bias"
)


def split(layout: str) -> dict[str, str]:
    return {SPLIT.format(name): f"{name} = self.{name}_linear(normed){layout}" for name in "qkv"}


def not_normed(*names: str) -> dict[str, str]:
    return {SPLIT.format(name): SPLIT.format(name).replace("normed", "x") for name in names}


def by_hand(root: str, cube: str = "0.044715") -> dict[str, str]:
    return {GELU: f"(lambda u: u / 2 * (1 + torch.tanh({root} * (u + {cube} * u**3))))({HIDDEN_LAYER})"}


MISTAKES = (
    Mistake(
        "post_norm",
        "the norms come after the sums, as in the first transformer; here each comes first in its branch: x + f(ln(x))",
        {
            NORMED: "normed = x",
            FIRST: f"x = self.ln1(x + {MAPPED})",
            HIDDEN_LAYER: "self.fc1(x)",
            RESULT: "return self.ln2(x + self.fc2(hidden))",
        },
    ),
    Mistake(
        "norm_at_the_end_of_a_branch",
        "a branch is normed at its end, x + ln(f(x)); norm its input, x + f(ln(x))",
        {
            NORMED: "normed = x",
            FIRST: f"x = x + self.ln1({MAPPED})",
            HIDDEN_LAYER: "self.fc1(x)",
            RESULT: "return x + self.ln2(self.fc2(hidden))",
        },
    ),
    Mistake(
        "normed_tokens_in_the_sum",
        "a branch is added to the normed tokens; add it to the tokens as they were before the norm",
        {NORMED: "x = normed = self.ln1(x)"},
        {"hidden = ": "x = self.ln2(x)\n        hidden = ", HIDDEN_LAYER: "self.fc1(x)"},
        {
            NORMED: "x = normed = self.ln1(x)",
            "hidden = ": "x = self.ln2(x)\n        hidden = ",
            HIDDEN_LAYER: "self.fc1(x)",
        },
    ),
    Mistake(
        "no_first_sum",
        "attention's result replaces x; add it to x",
        {FIRST: f"x = {MAPPED}"},
    ),
    Mistake(
        "no_second_sum",
        "the MLP's result replaces x; add it to x",
        {RESULT: "return self.fc2(hidden)"},
    ),
    Mistake(
        "no_sums", "neither branch is added to x; add both", {FIRST: f"x = {MAPPED}", RESULT: "return self.fc2(hidden)"}
    ),
    Mistake(
        "second_sum_from_the_start",
        "the MLP's result is added to the block's input; add it to the sum after attention",
        {NORMED: f"start = x\n        {NORMED}", RESULT: "return start + self.fc2(hidden)"},
    ),
    Mistake(
        "side_by_side",
        "the MLP reads ln2 of the block's input; it should read ln2 of the sum after attention",
        {NORMED: f"start = x\n        {NORMED}", HIDDEN_LAYER: "self.fc1(self.ln2(start))"},
    ),
    Mistake(
        "mlp_first",
        "the MLP comes before attention; it should come after it",
        {
            NORMED: f"x = x + self.fc2({GELU})\n        {NORMED}",
            FIRST: f"return x + {MAPPED}",
        },
    ),
    Mistake(
        "one_norm_for_both",
        "one LayerNorm is used twice; attention has ln1, and the MLP has ln2",
        {HIDDEN_LAYER: "self.fc1(self.ln1(x))"},
        {NORMED: "normed = self.ln2(x)"},
    ),
    Mistake(
        "norms_swapped",
        "ln1 and ln2 are swapped; attention has ln1, and the MLP has ln2",
        {NORMED: "normed = self.ln2(x)", HIDDEN_LAYER: "self.fc1(self.ln1(x))"},
    ),
    Mistake("no_second_norm", "the MLP reads x without its norm; give it ln2(x)", {HIDDEN_LAYER: "self.fc1(x)"}),
    Mistake("no_first_norm", "attention reads x without its norm; give it ln1(x)", {NORMED: "normed = x"}),
    Mistake(
        "queries_not_normed",
        "queries, keys or values come from x; all three should come from ln1(x)",
        not_normed("q"),
        not_normed("k", "v"),
        not_normed("v"),
        not_normed("k"),
        not_normed("q", "k"),
    ),
    Mistake(
        "another_eps",
        "a LayerNorm does not add an eps of 1e-5 to the variance; leave eps at its default",
        {"self.ln1 = nn.LayerNorm(embed_dim)": "self.ln1 = nn.LayerNorm(embed_dim, eps=1e-6)"},
        {"self.ln2 = nn.LayerNorm(embed_dim)": "self.ln2 = nn.LayerNorm(embed_dim, eps=1e-6)"},
        {
            "self.ln1 = nn.LayerNorm(embed_dim)": "self.ln1 = nn.LayerNorm(embed_dim, eps=1e-6)",
            "self.ln2 = nn.LayerNorm(embed_dim)": "self.ln2 = nn.LayerNorm(embed_dim, eps=1e-6)",
        },
        {
            "self.ln1 = nn.LayerNorm(embed_dim)": "self.ln1 = nn.LayerNorm(embed_dim, eps=1e-12)",
            "self.ln2 = nn.LayerNorm(embed_dim)": "self.ln2 = nn.LayerNorm(embed_dim, eps=1e-12)",
        },
    ),
    Mistake(
        "unbiased_variance",
        "a norm by hand divides the sum of squares by D − 1, as var and std do by default; divide it by D",
        {NORMED: f"normed = {UNBIASED.format(1)}", HIDDEN_LAYER: f"self.fc1({UNBIASED.format(2)})"},
    ),
    Mistake("not_causal", "tokens see later ones; hide keys after the query", {DIAGONAL: ""}),
    Mistake("itself_hidden", {DIAGONAL: ".tril(-1)"}, {DIAGONAL: ".tril(-1)", WEIGHTS: f"{WEIGHTS}.nan_to_num(0)"}),
    Mistake("next_token_seen", "a token also sees the next token; hide that one", {DIAGONAL: ".tril(1)"}),
    Mistake(
        "past_hidden",
        "a token sees itself and later ones; it should see itself and earlier ones",
        {DIAGONAL: ".triu()"},
    ),
    Mistake(
        "exact_gelu",
        'the GELU is the exact one, by erf; use the one by tanh, approximate="tanh"',
        {GELU: f"F.gelu({HIDDEN_LAYER})"},
    ),
    Mistake("coarse_constants", by_hand("torch.sqrt(torch.tensor(2 / math.pi))"), by_hand("0.79788456")),
    Mistake(
        "constant_too_large",
        "the factor of u³ is 0.44715; it should be 0.044715",
        by_hand("math.sqrt(2 / math.pi)", "0.44715"),
        by_hand("torch.sqrt(torch.tensor(2 / math.pi))", "0.44715"),
    ),
    Mistake(
        "another_activation",
        "the activation is a ReLU, a SiLU or the GELU by a sigmoid; it should be the GELU by tanh",
        {GELU: f"F.relu({HIDDEN_LAYER})"},
        {GELU: [f"F.silu({HIDDEN_LAYER})", f"(lambda h: h * torch.sigmoid(1.702 * h))({HIDDEN_LAYER})"]},
    ),
    Mistake("no_activation", "there is no activation between fc1 and fc2; put the GELU there", {GELU: HIDDEN_LAYER}),
    Mistake(
        "activation_after_fc2",
        "an activation also follows fc2; it belongs only between fc1 and fc2",
        {RESULT: 'return x + F.gelu(self.fc2(hidden), approximate="tanh")'},
    ),
    Mistake(
        "no_output_map",
        "out_linear is not applied; apply it to the merged heads before the sum",
        {MAPPED: [f"{MERGE} + 0 * self.out_linear(x)", MERGE]},
    ),
    Mistake("not_scaled", {"(q / math.…": "q @ k.mT"}),
    Mistake(
        "float32_root",
        {"math.sqrt(d)": "torch.sqrt(torch.tensor(d))"},
        {"(q / math.sqrt(d))": "(q * torch.tensor(d**-0.5))"},
    ),
    Mistake("scaled_by_the_length", {"math.sqrt(d)": "math.sqrt(S)"}),
    Mistake("scaled_by_embed_dim", {"math.sqrt(d)": "math.sqrt(D)"}),
    Mistake("heads_split_by_view", split(".view(B, H, S, d)")),
    Mistake("heads_interleaved", split(".view(B, S, d, H).permute(0, 3, 1, 2)")),
    Mistake("heads_merged_without_transpose", {MERGE: "heads.reshape(B, S, D)"}),
    Mistake("softmax_over_queries", {"softmax(-1)": "softmax(-2)"}),
    Mistake("masked_after_softmax", {WEIGHTS: "scores.softmax(-1) * seen"}),
    Mistake("hidden_by_0", {HIDDEN: "(scores * seen)"}),
    Mistake("zero_scores_hidden", {HIDDEN: "(scores * seen).masked_fill(scores * seen == 0, -torch.inf)"}),
    Mistake(
        "mask_of_the_first_call",
        {f"seen = {SEEN}": f'seen = self.__dict__.setdefault("kept", {SEEN})[:S, :S]'},
    ),
    Mistake("hidden_by_plus_infinity", {HIDDEN: HIDDEN.replace("-", "")}),
    Mistake("maximum_floored", {WEIGHTS: [f"(lambda e: e / e.sum(-1, keepdim=True))({e})" for e in FLOORED]}),
    Mistake("maximum_not_subtracted", {WEIGHTS: f"(lambda e: e / e.sum(-1, keepdim=True))({HIDDEN}.exp())"}),
    Mistake("hidden_by_1e4", {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e4"), "(scores - 1e4 * ~seen)"]}),
    Mistake("hidden_by_almost_0", {HIDDEN: [HIDDEN.replace("-torch.inf", "-1e-9"), "(scores + ~seen * -1e-9)"]}),
    Mistake(
        "hidden_by_1e9",
        {HIDDEN: HIDDEN.replace("-torch.inf", "-1e9")},
        {WEIGHTS: f"({WIDE} - 1e9 * ~seen).softmax(-1).to(x.dtype)"},
    ),
    Mistake(
        "dropout_left_on",
        "dropout changes the block while it trains; use no dropout",
        {HEADS: "heads = F.dropout(weights, 0.1, self.training) @ v"},
        {RESULT: "return x + F.dropout(self.fc2(hidden), 0.1, self.training)"},
        {
            HEADS: "heads = F.dropout(weights, 0.1, self.training) @ v",
            RESULT: "return x + F.dropout(self.fc2(hidden), 0.1, self.training)",
        },
    ),
    Mistake(
        "written_into_x",
        "x += … writes into the caller's tensor; x = x + … makes a new one",
        {FIRST: f"x += {MAPPED}"},
    ),
    Mistake(
        "head_by_head",
        {HEADS: "heads = torch.stack([weights[:, h] @ v[:, h] for h in range(H)], dim=1)"},
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
    "builtin.py runs cat": "it puts tensors side by side; one product for q, k and v is a usual right answer",
    "builtin.py runs triu": "it makes the mask",
    "builtin.py runs scaled_dot_product_flash_attention_for_cpu": "F.scaled_dot_product_attention is allowed",
    f"seen = {SEEN} -> seen = {SEEN.replace(', device=x.device', '')}": (
        "on the CPU the mask is made on the device of x anyway; on a GPU the call raises"
    ),
} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in (*map(SPLIT.format, "qkv"), FIRST)
}
