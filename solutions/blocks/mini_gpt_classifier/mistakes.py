"""Known wrong answers to mini_gpt_classifier."""

from graders.kata import Mistake

FIRST = "x = x + self.attention(self.ln1(x), real)"
SECOND = "return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))"
GELU = "F.gelu(self.fc1(self.ln2(x)))"
SPLIT = "self.{0}_linear(x).view(B, S, H, d).transpose(1, 2)"
SCORES = "q @ k.mT / math.sqrt(d)"
PADDING = "padding = ~real[:, None, None, :]"
HIDDEN = "scores.masked_fill(padding, -torch.inf)"
WEIGHTS = f"weights = {HIDDEN}.softmax(dim=-1)"
FLOORED = [f"({HIDDEN} - {HIDDEN}.amax(-1, keepdim=True).clamp(min={low})).exp()" for low in ("-1e4", "-1e9")]
MERGE = "mixed = (weights @ v).transpose(1, 2).reshape(B, S, D)"
HEAD = "self.head = nn.Linear(dim, classes)"
REAL = "real = mask != 0"
POSITIONS = "positions = torch.arange(ids.shape[1], device=ids.device)"
BLOCKS = "        for block in self.blocks:\n            x = block(x, real)\n"
LAST_NORM = "        x = self.ln_f(x)\n"
TOTAL = "total = x.masked_fill(~real[:, :, None], 0).sum(dim=1)"
WEIGHTED = "total = (x * mask.to(x.dtype)[:, :, None]).sum(dim=1)"
RESULT = "return self.head(total / count)"
DEVICE = "dtype=torch.bool, device=x.device)"
CAUSAL = f"(torch.ones(S, S, {DEVICE}.tril() == 0)"

MASK = (
    Mistake(
        "still_causal",
        "tokens see only earlier ones, as when the model wrote text; here each token sees all real tokens",
        {PADDING: f"{PADDING} | {CAUSAL}"},
        {PADDING: f"padding = {CAUSAL}"},
    ),
    Mistake(
        "padding_seen",
        "real tokens see the padding; hide its keys before the softmax",
        {HIDDEN: "scores"},
    ),
    Mistake(
        "queries_hidden",
        "the mask hides the rows of padding, not its keys, so real tokens see the padding; let it hide columns of the "
        "scores",
        {PADDING: "padding = ~real[:, None, :, None]"},
        {PADDING: "padding = ~real[:, None, :, None]", TOTAL: "total = (x * real[:, :, None]).sum(dim=1)"},
        {
            PADDING: "padding = ~real[:, None, :, None]",
            HIDDEN: "scores.masked_fill(padding, torch.finfo(scores.dtype).min)",
        },
    ),
    Mistake(
        "padding_sees_nothing",
        "padding sees no key at all, so its rows are NaN, and reach the result by 0 · NaN or by the gradients; hide "
        "only keys",
        {PADDING: "padding = ~(real[:, None, None, :] & real[:, None, :, None])"},
        {
            PADDING: "padding = ~(real[:, None, None, :] & real[:, None, :, None])",
            TOTAL: "total = (x * real[:, :, None]).sum(dim=1)",
        },
    ),
    Mistake(
        "real_tokens_hidden",
        "the mask is the wrong way round: real tokens are hidden, and padding is seen",
        {PADDING: "padding = real[:, None, None, :]"},
    ),
    Mistake(
        "one_mask_for_all",
        "the first text's mask, or a mask of all texts together, hides the keys of every text; each has its own",
        {PADDING: "padding = ~real[:1, None, None, :]"},
        {PADDING: "padding = ~real.any(dim=0)"},
        {PADDING: "padding = ~real.all(dim=0) & (real.all(dim=0)).any()"},
    ),
    Mistake(
        "numbers_of_the_mask",
        "only the number 1, or only positive numbers, count as real, or the numbers are used as weights; every number "
        "but 0 means real, so compare with 0 first",
        {REAL: ["real = mask == 1", "real = mask > 0", "real = mask.to(torch.int8) != 0"]},
        {"count = real.sum(": "count = mask.sum("},
        {TOTAL: WEIGHTED},
        {"count = real.sum(": "count = mask.sum(", TOTAL: WEIGHTED},
    ),
    Mistake("hidden_by_1e9", {"-torch.inf": "-1e9"}),
    Mistake("hidden_by_1e4", {"-torch.inf": "-1e4"}, {HIDDEN: "(scores + padding * -1e4)"}),
    Mistake("hidden_by_0", {"-torch.inf": "0.0"}),
    Mistake("hidden_by_almost_0", {"-torch.inf": "-1e-9"}),
    Mistake("maximum_floored", {WEIGHTS: [f"e = {e}\n        weights = e / e.sum(-1, keepdim=True)" for e in FLOORED]}),
    Mistake("maximum_not_subtracted", {WEIGHTS: f"e = {HIDDEN}.exp()\n        weights = e / e.sum(-1, keepdim=True)"}),
    Mistake("masked_after_softmax", {WEIGHTS: "weights = scores.softmax(dim=-1) * ~padding"}),
    Mistake("softmax_over_queries", {WEIGHTS: WEIGHTS.replace("-1", "-2")}),
    Mistake(
        "mask_of_a_fixed_size",
        "the mask is made for a number of tokens that does not depend on context, and longer texts do not fit; use the "
        "mask that is given",
        {
            PADDING: "padding = torch.ones(B, 1, 1, 256, dtype=torch.bool, device=x.device)\n        "
            "padding[:, 0, 0, :S] = ~real\n        padding = padding[..., :S] if S <= 256 else padding"
        },
    ),
)
MEAN = (
    Mistake(
        "mean_over_padding",
        "the mean is taken over all tokens, padding among them; take it over the real ones",
        {RESULT: "return self.head(x.mean(dim=1))"},
    ),
    Mistake(
        "divided_by_the_width",
        "the sum over the real tokens is divided by the number of all columns; divide it by the number of real tokens",
        {RESULT: "return self.head(total / ids.shape[1])"},
    ),
    Mistake(
        "padding_in_the_sum",
        "the sum is taken over all tokens, and divided by the number of real ones; leave padding out of the sum",
        {TOTAL: "total = x.sum(dim=1)"},
    ),
    Mistake(
        "sum_for_mean",
        "the states are added up and not divided; divide the sum by the number of real tokens",
        {RESULT: "return self.head(total)"},
    ),
    Mistake(
        "one_count_for_all",
        "all texts are divided by one number of tokens, a mean or a maximum over the batch; each has its own",
        {RESULT: ["return self.head(total / count.to(x.dtype).mean())", "return self.head(total / count.max())"]},
    ),
    Mistake(
        "last_real_token",
        "the last real token is read in place of the mean over all real tokens",
        {RESULT: "return self.head(x[torch.arange(len(ids)), count[:, 0] - 1])"},
    ),
    Mistake(
        "last_column",
        "the last column is read, which is padding in short texts; take the mean over the real tokens",
        {RESULT: "return self.head(x[:, -1])"},
    ),
    Mistake(
        "first_token",
        "the first token is read, as in BERT; take the mean over the real tokens",
        {RESULT: "return self.head(x[:, 0])"},
    ),
    Mistake(
        "maximum_for_mean",
        "the largest state of each channel is taken; take the mean over the real tokens",
        {RESULT: "return self.head(x.masked_fill(~real[:, :, None], -torch.inf).amax(dim=1))"},
    ),
    Mistake(
        "embeddings_averaged",
        "the embeddings are averaged before the blocks, which then see a single token; average after ln_f",
        {
            BLOCKS: "        x = x.masked_fill(~real[:, :, None], 0).sum(dim=1, keepdim=True) / count[:, :, None]\n"
            + BLOCKS.replace("real", "real[:, :1]"),
            TOTAL: "total = x[:, 0] * count",
        },
    ),
    Mistake(
        "norm_after_the_mean",
        "ln_f is applied to the mean; apply it to each token, then take the mean",
        {LAST_NORM: "", RESULT: "return self.head(self.ln_f(total / count))"},
    ),
    Mistake(
        "no_last_norm",
        "ln_f is not applied; the mean is taken of ln_f(x)",
        {LAST_NORM: ""},
    ),
    Mistake(
        "rounded_count",
        "the quotient of sum and number is cut to a whole number; divide by /",
        {RESULT: "return self.head(total // count)"},
    ),
    Mistake(
        "eps_in_the_count",
        "an eps is added to the number of tokens, which is too coarse in float64; a text without a token is refused "
        "anyway",
        {RESULT: ["return self.head(total / (count + 1e-8))", "return self.head(total / (count + 1e-6))"]},
    ),
)
MODEL = (
    Mistake("not_scaled", {" / math.sqrt(d)": ""}),
    Mistake(
        "scaled_by_dim",
        {"math.sqrt(d)": "math.sqrt(D)"},
    ),
    Mistake("scaled_by_the_length", {"math.sqrt(d)": "math.sqrt(S)"}),
    Mistake(
        "heads_split_by_view",
        {
            SPLIT.format(name): SPLIT.format(name).replace("(B, S, H, d).transpose(1, 2)", "(B, H, S, d)")
            for name in "qkv"
        },
    ),
    Mistake("heads_merged_without_transpose", {MERGE: "mixed = (weights @ v).reshape(B, S, D)"}),
    Mistake("no_output_map", {"self.out_linear(mixed)": "mixed"}),
    Mistake(
        "gelu_by_tanh",
        {GELU: GELU[:-1] + ', approximate="tanh")'},
    ),
    Mistake(
        "no_positions",
        "the position embedding is not added, so the order of the tokens does not count; add it",
        {" + self.position_embedding(positions)": ""},
    ),
    Mistake(
        "positions_from_the_end",
        "positions run backwards, or end at the last one of the context; they should be 0, 1, 2, … from the first "
        "token on",
        {POSITIONS: f"{POSITIONS}.flip(0)"},
        {POSITIONS: "positions = torch.arange(self.context - ids.shape[1], self.context, device=ids.device)"},
        {POSITIONS: "positions = (count - 1 - torch.arange(ids.shape[1], device=ids.device)).clamp(min=0)"},
    ),
    Mistake(
        "positions_shifted_by_padding",
        "positions are counted as if padding stood before the text; it stands after it, so the first token has "
        "position 0",
        {POSITIONS: f"{POSITIONS} + ids.shape[1] - count\n        positions = positions.clamp(max=self.context - 1)"},
        {POSITIONS: "positions = real.long().cumsum(dim=1)\n        positions = positions.clamp(max=self.context - 1)"},
    ),
    Mistake(
        "projection_left_in",
        "the output projection to the words is still there; leave it out",
        {
            HEAD: f"{HEAD}\n        self.lm_head = nn.Linear(dim, vocab_size, bias=False)",
        },
    ),
    Mistake(
        "head_without_bias",
        "the head has no bias; it should be nn.Linear(dim, classes)",
        {HEAD: "self.head = nn.Linear(dim, classes, bias=False)"},
    ),
    Mistake(
        "head_of_two_layers",
        "the head has a layer or an activation of its own before the last map; it is one nn.Linear",
        {
            RESULT: [
                "return self.head(torch.tanh(total / count))",
                "return self.head(torch.relu(total / count))",
                "return self.head(F.gelu(total / count))",
            ]
        },
    ),
    Mistake(
        "probabilities_returned",
        "forward returns probabilities; return the logits as they are",
        {
            RESULT: [
                "return self.head(total / count).softmax(dim=-1)",
                "return self.head(total / count).sigmoid()",
                "return self.head(total / count).log_softmax(dim=-1)",
            ]
        },
    ),
    Mistake(
        "normalised_mean",
        "the mean is divided by its length, as for embeddings that are compared; the head reads the mean itself",
        {RESULT: "return self.head(F.normalize(total / count, dim=-1))"},
    ),
    Mistake(
        "dropout_left_on",
        "dropout changes the model while it trains; use no dropout",
        {RESULT: "return self.head(F.dropout(total / count, 0.1, self.training))"},
        {WEIGHTS: f"weights = F.dropout({HIDDEN}.softmax(dim=-1), 0.1, self.training)"},
    ),
    Mistake(
        "longer_texts_cut",
        "texts longer than the context are cut; refuse them",
        {
            "if ids.shape[1] > self.context:": "ids, mask = ids[:, : self.context], mask[:, : self.context]\n        "
            "if ids.shape[1] > self.context:"
        },
    ),
)
COST = (
    Mistake(
        "words_scored",
        "scores of all words are made for each token, and not used; leave the output projection out",
        {LAST_NORM: f"{LAST_NORM}        x @ self.token_embedding.weight.mT\n"},
        {
            "self.token_embedding(ids)": "F.one_hot(ids, self.token_embedding.num_embeddings)"
            ".to(self.head.weight.dtype) @ self.token_embedding.weight"
        },
        slow=True,
    ),
    Mistake(
        "loop",
        "a loop takes one text or one head at a time; one @ does all of them",
        {MERGE: "mixed = torch.stack([weights[b] @ v[b] for b in range(B)]).transpose(1, 2).reshape(B, S, D)"},
        {"(weights @ v)": "torch.stack([weights[:, h] @ v[:, h] for h in range(H)], dim=1)"},
        slow=True,
    ),
    Mistake("table_of_products", {"q @ k.mT": "(q.unsqueeze(3) * k.unsqueeze(2)).sum(-1)"}, slow=True),
)
MISTAKES = (*MASK, *MEAN, *MODEL, *COST)
ON_CPU = "on the CPU it is made on the device of the ids anyway; on a GPU the call raises"
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
TURNED = (*(f"{name} = {SPLIT.format(name)}" for name in "qkv"), MERGE)
EQUIVALENT = {f"{POSITIONS} -> {POSITIONS.replace(', device=ids.device', '')}": ON_CPU} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in TURNED
}
# What every seed asks alike -> why.
FIXED = {
    "axis 0 of weights": "all parameters stand in one row",
    "length of sizes": "they are V, C, D, H, L and K",
    "length of parts": "calls of one model",
    "length of names": "the names of all parameters of one model",
}
