"""Known wrong answers to mini_gpt."""

from graders.kata import Mistake

FIRST = "x = x + self.attention(self.ln1(x))"
SECOND = "return x + self.mlp(self.ln2(x))"
SPLIT = "self.{0}_linear(x).view(B, S, H, d).transpose(1, 2)"
SEEN = "        seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()\n"
HIDE = "        scores = scores.masked_fill(~seen, -torch.inf)\n"
WEIGHTS = "weights = scores.softmax(dim=-1)"
MERGE = "mixed.transpose(1, 2).reshape(B, S, D)"
FLOORED = [f"(scores - scores.amax(-1, keepdim=True).clamp(min={low}))" for low in ("-1e4", "-1e9")]
GELU = "F.gelu(self.fc1(x))"
BLOCKS = "nn.ModuleList([Block(dim, heads) for _ in range(layers)])"
HEAD = "nn.Linear(dim, vocab_size, bias=False)"
TIED = "        self.lm_head.weight = self.token_embedding.weight\n"
POSITIONS = "torch.arange(ids.shape[1], device=ids.device)"
TOKENS = "x = self.token_embedding(ids)"
ADDED = " + self.position_embedding(positions)"
LAST_NORM = "        x = self.ln_f(x)\n"
PREDICTING = "logits[:, :-1].flatten(0, 1)"
LABELS = "ids[:, 1:].flatten()"
LOSS = "F.cross_entropy(logits, labels)"
CROPPED = "seen = ids[:, -self.context :]"
BEST = "logits.argmax(dim=-1, keepdim=True)"
DRAWN_FROM = "p = torch.softmax(logits.double() / temperature, dim=-1)"

MOST_PROBABLE = "logits = logits.masked_fill(logits < logits.topk(min({}, logits.shape[1])).values[:, -1:], -torch.inf)"
MIRRORED = """u = torch.rand((len(p) + 1) // 2, 1, generator=generator, dtype=p.dtype)
                u = torch.cat([u, 1 - u])[: len(p)]
                token = torch.searchsorted(p.cumsum(1), u).clamp(max=p.shape[1] - 1)"""
ONE_NUMBER = "torch.rand(1, 1, generator=generator)"


def leaking(edits: dict[str, str]) -> dict[str, str]:
    """If tokens see later ones, it matters whether the loss leaves out the last logits or the last token."""
    return edits | {"logits = self(ids)\n": "logits = self(ids[:, :-1])\n", PREDICTING: "logits.flatten(0, 1)"}


ATTENTION = (
    Mistake("not_scaled", {" / math.…": ""}),
    Mistake(
        "scaled_by_dim",
        {"math.sqrt(d)": "math.sqrt(D)"},
    ),
    Mistake(
        "scaled_by_heads",
        "the scores are divided by √heads; use √d, with d = dim / heads, the channels of one head",
        {"math.sqrt(d)": "math.sqrt(H)"},
    ),
    Mistake(
        "scaled_by_the_length",
        {"math.sqrt(d)": "math.sqrt(S)"},
        leaking({"math.sqrt(d)": "math.sqrt(S)"}),
    ),
    Mistake("scaled_by_d", {"math.sqrt(d)": "d"}),
    Mistake("not_causal", "tokens see later ones; hide the keys after the query", {HIDE: ""}, leaking({HIDE: ""})),
    Mistake(
        "next_token_seen",
        "the mask is shifted by one, so a token sees the next token, which it should predict; also hide that token",
        {".tril()": ".tril(1)"},
        leaking({".tril()": ".tril(1)"}),
    ),
    Mistake("itself_hidden", {".tril()": ".tril(-1)"}, leaking({".tril()": ".tril(-1)"})),
    Mistake(
        "past_hidden",
        "the mask is the wrong way round: a token sees later ones in place of earlier ones; it should see itself and "
        "earlier ones",
        {".tril()": ".triu()"},
        leaking({".tril()": ".triu()"}),
        {"~seen": "seen"},
        leaking({"~seen": "seen"}),
    ),
    Mistake("hidden_by_0", {"-torch.inf": "0.0"}, leaking({"-torch.inf": "0.0"})),
    Mistake(
        "hidden_by_plus_infinity",
        {"-torch.inf": "torch.inf"},
        leaking({"-torch.inf": "torch.inf"}),
    ),
    Mistake(
        "maximum_floored", {WEIGHTS: [f"e = {e}.exp()\n        weights = e / e.sum(-1, keepdim=True)" for e in FLOORED]}
    ),
    Mistake("maximum_not_subtracted", {WEIGHTS: "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)"}),
    Mistake("hidden_by_1e9", {"-torch.inf": "-1e9"}),
    Mistake("hidden_by_1e4", {"-torch.inf": "-1e4"}),
    Mistake(
        "mask_of_a_fixed_size",
        "the mask is made for a number of tokens that does not depend on context, and longer texts do not fit; make it "
        "for each text, or for context tokens",
        {SEEN: SEEN.replace("torch.ones(S, S,", "torch.ones(256, 256,").replace(".tril()", ".tril()[:S, :S]")},
    ),
    Mistake("hidden_by_almost_0", {"-torch.inf": "-1e-9"}, leaking({"-torch.inf": "-1e-9"})),
    Mistake(
        "masked_after_softmax",
        {HIDE: "", WEIGHTS: "weights = scores.softmax(dim=-1) * seen"},
        leaking({HIDE: "", WEIGHTS: "weights = scores.softmax(dim=-1) * seen"}),
    ),
    Mistake(
        "softmax_over_queries",
        {WEIGHTS: WEIGHTS.replace("-1", "-2")},
        leaking({WEIGHTS: WEIGHTS.replace("-1", "-2")}),
    ),
    Mistake(
        "values_from_k_linear",
        "the values come from k_linear; they should come from v_linear",
        {SPLIT.format("v"): SPLIT.format("k")},
    ),
    Mistake(
        "heads_split_by_view",
        {SPLIT.format(name): f"self.{name}_linear(x).view(B, H, S, d)" for name in "qkv"},
        {SPLIT.format("v"): "self.v_linear(x).view(B, H, S, d)"},
    ),
    Mistake(
        "heads_merged_without_transpose",
        {MERGE: "mixed.reshape(B, S, D)"},
        leaking({MERGE: "mixed.reshape(B, S, D)"}),
    ),
    Mistake(
        "heads_interleaved",
        {SPLIT.format(name): f"self.{name}_linear(x).view(B, S, d, H).permute(0, 3, 1, 2)" for name in "qkv"}
        | {MERGE: "mixed.permute(0, 2, 3, 1).reshape(B, S, D)"},
        {SPLIT.format(name): f"self.{name}_linear(x).view(B, S, d, H).permute(0, 3, 1, 2)" for name in "qkv"},
    ),
    Mistake("no_output_map", {"self.out_linear(mixed)": "mixed"}),
    Mistake(
        "dropout_left_on",
        "dropout changes the model while it trains; use no dropout",
        {WEIGHTS: "weights = F.dropout(scores.softmax(dim=-1), 0.1, self.training)"},
        {GELU: f"F.dropout({GELU}, 0.1, self.training)"},
        {TOKENS: "x = F.dropout(self.token_embedding(ids), 0.1, self.training)"},
    ),
)
BLOCK = (
    Mistake(
        "no_first_residual", "attention's result replaces x; add it to x", {FIRST: "x = self.attention(self.ln1(x))"}
    ),
    Mistake("no_second_residual", "the MLP's result replaces x; add it to x", {SECOND: "return self.mlp(self.ln2(x))"}),
    Mistake(
        "post_norm",
        "one norm or both come after the sum, as in the first transformer; each should come first in its branch: x "
        "+ f(ln(x))",
        {FIRST: "x = self.ln1(x + self.attention(x))", SECOND: "return self.ln2(x + self.mlp(x))"},
        {FIRST: "x = self.ln1(x + self.attention(x))"},
        {SECOND: "return self.ln2(x + self.mlp(x))"},
    ),
    Mistake(
        "normed_tokens_in_the_sum",
        "a branch is added to the normed tokens; add it to the tokens as they were before the norm",
        {FIRST: "x = self.ln1(x)\n        x = x + self.attention(x)"},
        {SECOND: "x = self.ln2(x)\n        return x + self.mlp(x)"},
        {
            FIRST: "x = self.ln1(x)\n        x = x + self.attention(x)",
            SECOND: "x = self.ln2(x)\n        return x + self.mlp(x)",
        },
    ),
    Mistake(
        "no_norm_before_attention",
        "attention reads x without its norm; give it ln1(x)",
        {FIRST: "x = x + self.attention(x)"},
    ),
    Mistake(
        "no_norm_before_the_mlp", "the MLP reads x without its norm; give it ln2(x)", {SECOND: "return x + self.mlp(x)"}
    ),
    Mistake("one_norm_for_both", "the MLP reads ln1(x); give it ln2(x)", {SECOND: "return x + self.mlp(self.ln1(x))"}),
    Mistake(
        "branches_side_by_side",
        "the MLP reads ln2 of the block's input; it should read ln2 of the sum after attention",
        {FIRST: f"start = x\n        {FIRST}", SECOND: "return x + self.mlp(self.ln2(start))"},
    ),
    Mistake(
        "another_activation",
        "the activation of the MLP is no GELU; use F.gelu without options",
        {GELU: ["F.relu(self.fc1(x))", "F.silu(self.fc1(x))"]},
    ),
    Mistake(
        "gelu_by_tanh",
        {GELU: 'F.gelu(self.fc1(x), approximate="tanh")'},
        {
            GELU: "(lambda u: u / 2 * (1 + torch.tanh(torch.sqrt(torch.tensor(2 / math.pi)) * (u + 0.044715 * u**3))))"
            "(self.fc1(x))"
        },
    ),
    Mistake(
        "no_activation",
        "nothing stands between fc1 and fc2, so the MLP is linear; put the GELU there",
        {GELU: "self.fc1(x)"},
    ),
    Mistake(
        "activation_after_fc2",
        "the GELU comes after fc2; it belongs between fc1 and fc2",
        {GELU: "self.fc1(x)", "self.fc2(hidden)": "F.gelu(self.fc2(hidden))"},
    ),
    Mistake(
        "narrow_mlp",
        "the MLP has another width; fc1 should map to 4 · dim channels, and fc2 back",
        {"nn.Linear(dim, 4 * dim)": "nn.Linear(dim, 2 * dim)", "nn.Linear(4 * dim, dim)": "nn.Linear(2 * dim, dim)"},
    ),
)
MODEL = (
    Mistake(
        "one_block_repeated",
        "all blocks are one object, which is repeated in the list; make a new one for each layer",
        {BLOCKS: "nn.ModuleList([Block(dim, heads)] * layers)"},
    ),
    Mistake(
        "blocks_in_a_list",
        "the blocks stand in a plain list, so their weights are no parameters of the model; use nn.ModuleList",
        {BLOCKS: BLOCKS.replace("nn.ModuleList(", "").removesuffix(")")},
    ),
    Mistake(
        "blocks_side_by_side",
        "each block reads the embeddings, so only the last block counts; each should read the result of the block "
        "before it",
        {"            x = block(x)\n": "            out = block(x)\n", LAST_NORM: "        x = self.ln_f(out)\n"},
    ),
    Mistake(
        "first_block_only",
        "some blocks are not applied; apply all of them",
        {"in self.blocks:": "in self.blocks[:1]:"},
    ),
    Mistake(
        "no_positions",
        "the position embedding is not added, so the order of the tokens hardly counts; add it",
        {ADDED: ""},
    ),
    Mistake(
        "positions_of_another_length",
        "the position embedding has a row for each token of the vocabulary; it should have one for each position",
        {"nn.Embedding(context,…": "nn.Embedding(vocab_size, dim)"},
    ),
    Mistake(
        "positions_from_1",
        "positions begin at 1, and the last token of a full context has none; begin at 0",
        {POSITIONS: "torch.arange(1, ids.shape[1] + 1, device=ids.device)"},
    ),
    Mistake(
        "positions_from_the_end",
        "positions run backwards, or end at the last one of the context; they should be 0, 1, 2, … from the first "
        "token on",
        {POSITIONS: f"{POSITIONS}.flip(0)"},
        {POSITIONS: "torch.arange(self.context - ids.shape[1], self.context, device=ids.device)"},
    ),
    Mistake(
        "positions_all_0",
        "all tokens have position 0; they should have 0, 1, 2, …",
        {POSITIONS: "torch.zeros_like(ids[0])"},
    ),
    Mistake(
        "embedding_times_root",
        "token embeddings are multiplied by √dim, as in the first transformer; here they are taken as they are",
        {TOKENS: f"{TOKENS} * math.sqrt(self.ln_f.weight.numel())"},
    ),
    Mistake(
        "logits_over_root",
        "the logits are divided by √dim, as in T5; here the tied projection of ln_f(x) is taken as it is",
        {"return self.lm_head(x)": "return self.lm_head(x) / math.sqrt(x.shape[-1])"},
    ),
    Mistake("no_last_norm", "ln_f is not applied; the output projection should read ln_f(x)", {LAST_NORM: ""}),
    Mistake(
        "norm_between_blocks",
        "ln_f is applied after each block; apply it once, after the last",
        {"            x = block(x)\n": "            x = self.ln_f(block(x))\n", LAST_NORM: ""},
    ),
    Mistake(
        "not_tied",
        "the output projection has an nn.Parameter of its own; use token_embedding.weight itself",
        {TIED: ["", "        self.lm_head.weight.data = self.token_embedding.weight.data\n"]},
        {TIED: "", HEAD: "nn.Linear(dim, vocab_size)"},
    ),
    Mistake(
        "head_with_bias",
        "the output projection has a bias; it should have only the tied weight",
        {HEAD: "nn.Linear(dim, vocab_size)"},
    ),
    Mistake(
        "logits_are_probabilities",
        "forward returns the softmax of the logits; return the logits as they are",
        {"return self.lm_head(x)": "return self.lm_head(x).softmax(dim=-1)"},
    ),
)
TRAINING = (
    Mistake(
        "labels_not_shifted",
        "each token is its own label; the label at position s is the token at s + 1",
        {PREDICTING: "logits.flatten(0, 1)", LABELS: "ids.flatten()"},
        {LABELS: "ids[:, :-1].flatten()"},
    ),
    Mistake(
        "labels_shifted_back",
        "the labels are shifted the wrong way, to the token before; the label at position s is the token at s + 1",
        {PREDICTING: "logits[:, 1:].flatten(0, 1)", LABELS: "ids[:, :-1].flatten()"},
    ),
    Mistake(
        "labels_rolled",
        "the last logits get the first token as their label; nothing comes after the last token, so leave its logits "
        "out",
        {PREDICTING: "logits.flatten(0, 1)", LABELS: "ids.roll(-1, 1).flatten()"},
    ),
    Mistake(
        "shifted_after_flattening",
        "logits and tokens are shifted after all texts are joined, so a text's end predicts the start of the next; "
        "shift each text, logits[:, :-1] and ids[:, 1:]",
        {PREDICTING: "logits.flatten(0, 1)[:-1]", LABELS: "ids.flatten()[1:]"},
    ),
    Mistake(
        "first_logits_left_out",
        "the first logits are left out, so each token is its own label; leave out the last ones",
        {PREDICTING: "logits[:, 1:].flatten(0, 1)"},
    ),
    Mistake(
        "logits_not_left_out",
        "logits and labels do not fit: the last logits have no label; leave them out",
        {PREDICTING: "logits.flatten(0, 1)"},
    ),
    Mistake(
        "softmax_before_the_loss",
        "F.cross_entropy gets probabilities, and takes their softmax once more; give it the logits",
        {LOSS: "F.cross_entropy(logits.softmax(dim=-1), labels)"},
    ),
    Mistake(
        "sum_for_mean",
        "the loss is a sum, or is divided only by the number of texts; take the mean over all labels of the batch",
        {LOSS: 'F.cross_entropy(logits, labels, reduction="sum")'},
        {LOSS: 'F.cross_entropy(logits, labels, reduction="sum") / len(ids)'},
    ),
    Mistake(
        "mean_over_all_tokens",
        "the sum is divided by B · S; there are only B · (S − 1) labels",
        {LOSS: 'F.cross_entropy(logits, labels, reduction="sum") / ids.numel()'},
    ),
    Mistake(
        "labels_in_another_order",
        "labels are flattened position by position, logits text by text; flatten both alike",
        {LABELS: "ids[:, 1:].mT.flatten()"},
    ),
    Mistake(
        "loss_detached",
        "no gradient flows from the loss; leave out detach and no_grad",
        {LOSS: f"{LOSS}.detach()"},
    ),
    Mistake(
        "loss_can_overflow",
        "the loss is the logarithm of a softmax that can be 0; use F.cross_entropy, or log_softmax",
        {LOSS: "F.nll_loss(logits.softmax(dim=-1).log(), labels)"},
    ),
)
WRITING = (
    Mistake(
        "context_not_cropped",
        "the model is shown the whole text, which can be longer than the context; show it the last C tokens",
        {CROPPED: "seen = ids"},
    ),
    Mistake(
        "cropped_at_the_end",
        "the first C tokens are kept when a text is too long; keep the last ones",
        {CROPPED: "seen = ids[:, : self.context]"},
    ),
    Mistake(
        "one_token_less_seen",
        "the model is shown one token less than fits into the context; show it the last C tokens",
        {CROPPED: "seen = ids[:, -self.context + 1 :]"},
        {CROPPED: "seen = ids[:, -max(self.context - 1, 1) :]"},
        {CROPPED: "seen = ids if ids.shape[1] <= self.context else ids[:, -self.context + 1 :]"},
        {CROPPED: "seen = ids if ids.shape[1] <= self.context else ids[:, -max(self.context - 1, 1) :]"},
    ),
    Mistake(
        "last_token_only",
        "the model is shown only the last token, and has no cache of the others; show it the last C tokens",
        {CROPPED: "seen = ids[:, -1:]"},
    ),
    Mistake(
        "prompt_only",
        "in each step the model sees only the prompt; show it the new tokens as well",
        {
            "        for _ in range(new_tokens)": "        prompt = ids\n        for _ in range(new_tokens)",
            CROPPED: "seen = prompt[:, -self.context :]",
        },
    ),
    Mistake(
        "text_cropped",
        "the text itself is cropped, so its beginning is lost; crop only what the model is shown",
        {CROPPED: "seen = ids = ids[:, -self.context :]"},
    ),
    Mistake(
        "first_logits_taken",
        "the next token comes from the logits of the first position; take the last position's",
        {"self(seen)[:,…": "self(seen)[:, 0]"},
    ),
    Mistake("worst_token", "the token with the lowest logit is taken; take the highest", {"argmax": "argmin"}),
    Mistake(
        "always_greedy",
        "the best token is taken at any temperature; above 0, draw one",
        {"if temperature == 0:": "if temperature >= 0:"},
    ),
    Mistake(
        "temperature_multiplied",
        "the logits are multiplied by the temperature; divide by it",
        {DRAWN_FROM: DRAWN_FROM.replace("/", "*")},
    ),
    Mistake(
        "temperature_ignored",
        "the temperature does not count: it is not used, or divides probabilities, which changes no draw; divide "
        "the logits",
        {DRAWN_FROM: ["p = torch.softmax(logits, dim=-1) / temperature", "p = torch.softmax(logits, dim=-1)"]},
    ),
    Mistake(
        "generator_ignored",
        "the generator is not used; hand it to torch.multinomial",
        {"torch.multinomial(…": "torch.multinomial(p, 1)"},
    ),
    Mistake(
        "seeded_inside",
        "generate calls torch.manual_seed, which resets torch's default generator for the caller; leave seeds to the "
        "caller",
        {"        for _ in range(new_tokens)": "        torch.manual_seed(1337)\n        for _ in range(new_tokens)"},
    ),
    Mistake(
        "drawn_from_the_best",
        "a token is drawn only from the 50, 100 or 200 most probable ones; every token of the vocabulary can be drawn",
        *({DRAWN_FROM: f"{MOST_PROBABLE.format(most)}\n                {DRAWN_FROM}"} for most in (50, 100, 200)),
    ),
    Mistake(
        "mirrored_numbers",
        "half of the texts use 1 − u of the other half's random numbers u, so texts are not independent; draw a number "
        "for each",
        {"token = torch.multinomial(…": MIRRORED},
    ),
    Mistake(
        "one_draw_for_all",
        "all texts of the batch get the same draw, or the same random number; draw for each",
        {"torch.multinomial(…": "torch.multinomial(p[:1], 1, generator=generator).expand(len(ids), 1)"},
        {
            "torch.multinomial(…": [
                f"torch.searchsorted(p.cumsum(1), {one} + 0 * p[:, :1], right=True)"
                for one in (ONE_NUMBER, ONE_NUMBER.replace(")", ", dtype=torch.float64)"))
            ]
        },
    ),
    Mistake(
        "one_token_less",
        "one token too few is written; write as many as new_tokens says",
        {"range(new_tokens)": "range(new_tokens - 1)"},
    ),
    Mistake(
        "prepended",
        "new tokens are put before the text; append them",
        {"torch.cat(…": "torch.cat([token, ids], dim=1)"},
    ),
    Mistake(
        "prompt_not_returned",
        "only new tokens are returned; return the prompt and then these",
        {"        return ids\n": "        return ids[:, -new_tokens:]\n"},
    ),
)
COST = (
    Mistake(
        "head_by_head",
        {"mixed = weights @ v": "mixed = torch.stack([weights[:, h] @ v[:, h] for h in range(H)], dim=1)"},
        slow=True,
    ),
    Mistake("table_of_products", {"q @ k.mT": "(q.unsqueeze(3) * k.unsqueeze(2)).sum(-1)"}, slow=True),
)
MISTAKES = (*ATTENTION, *BLOCK, *MODEL, *TRAINING, *WRITING, *COST)
ON_CPU = "on the CPU it is made on the device of the ids anyway; on a GPU the call raises"
TURNED = (*(f"{name} = {SPLIT.format(name)}" for name in "qkv"), f"mixed = {MERGE}")
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"self.lm_head = {HEAD} -> self.lm_head = nn.Linear(vocab_size, dim, bias=False)": "the tied weight replaces it",
    f"{SEEN.strip()} -> {SEEN.strip().replace(', device=x.device', '')}": ON_CPU,
    f"positions = {POSITIONS} -> positions = torch.arange(ids.shape[1])": ON_CPU,
    f"token = {BEST} -> token = {BEST.replace('-1', '1')}": "of two axes, the second is the last",
    f"{DRAWN_FROM} -> {DRAWN_FROM.replace('-1', '1')}": "of two axes, the second is the last",
    f"{DRAWN_FROM} -> {DRAWN_FROM.replace('.double()', '')}": "only forward is tested in half precision",
} | {
    f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
    for line in TURNED
}
# What every seed asks alike -> why.
FIXED = {
    "axis 0 of weights": "all parameters stand in one row",
    "length of sizes": "they are V, C, D, H and L",
    "length of names": "the names of all parameters of one model",
}
