"""Known wrong answers to mini_gpt_cache."""

from graders.kata import Mistake

BLOCK_CALL = "x, pair = block(x, past)"
KEPT = "kept.append(pair)"
PASTS = "pasts = [None] * len(self.blocks) if cache is None else cache"
JOIN_K = "k = torch.cat([past[0], k], dim=2)"
JOIN_V = "v = torch.cat([past[1], v], dim=2)"
DIAGONAL = ".tril(S - T)"
SEEN = f"torch.ones(T, S, dtype=torch.bool, device=x.device){DIAGONAL}"
SPLIT = "self.{0}_linear(x).view(B, T, H, d).transpose(1, 2)"
SCORES = "q @ k.mT / math.sqrt(d)"
WEIGHTS = "scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)"
FLOORED = [
    f"(scores.masked_fill(~seen, -torch.inf) - scores.masked_fill(~seen, -torch.inf).amax(-1, keepdim=True)"
    f".clamp(min={low})).exp()"
    for low in ("-1e4", "-1e9")
]
MERGE = "mixed = (weights @ v).transpose(1, 2).reshape(B, T, D)"
GELU = "F.gelu(self.fc1(self.ln2(x)))"
PAIR = "return self.out_linear(mixed), (k, v)"
LENGTH = "P = 0 if cache is None else cache[0][0].shape[2]"
POSITIONS = "positions = torch.arange(P, end, device=ids.device)"
LIMIT = "if end > self.context:"
RESULT = "return x @ self.token_embedding.weight.mT, kept"
LOSS_LOGITS = "logits, _ = self(ids)\n"
PREDICTING = "logits = logits[:, :-1].flatten(0, 1)"
START = "        cache = None\n"
FULL = "if cache is None or ids.shape[1] > self.context:"
CROPPED = "seen = ids[:, -self.context :]"
READ = "logits, cache = self(seen)\n"
STEP = "logits, cache = self(ids[:, -1:], cache)"
DRAWN_FROM = "p = torch.softmax(logits.double() / temperature, dim=-1)"
MOST_PROBABLE = "logits = logits.masked_fill(logits < logits.topk(min({}, logits.shape[1])).values[:, -1:], -torch.inf)"
MIRRORED = """u = torch.rand((len(p) + 1) // 2, 1, generator=generator, dtype=p.dtype)
                u = torch.cat([u, 1 - u])[: len(p)]
                token = torch.searchsorted(p.cumsum(1), u).clamp(max=p.shape[1] - 1)"""
ONE_NUMBER = "torch.rand(1, 1, generator=generator, dtype=torch.float64)"
CLAMPED = "positions = torch.arange(P, end, device=ids.device).clamp(max=self.context - 1)"
ROOM = """
def grown(past: Tensor, new: Tensor) -> Tensor:
    \"\"\"Written behind the past, into room that a larger tensor has left.\"\"\"
    P, S = past.shape[2], past.shape[2] + new.shape[2]
    room = past if past._base is None or past._base.shape[2:3] != (512,) else past._base
    if room.shape[2] != 512:
        room = torch.cat([past, past.new_zeros(*past.shape[:2], 512 - P, past.shape[3])], dim=2)
    room.data[:, :, P:S] = new.detach()
    return room[:, :, :S]


class Block"""


def joined(k: str, v: str) -> dict[str, str]:
    return {JOIN_K: k, JOIN_V: v}


def preallocated(write: str, read: str) -> dict[str, str]:
    """One pair of tensors for each text, into which every call writes; the cache also says how much of it is filled."""
    return {
        f"        if past is not None:\n            {JOIN_K}  # (B, H, S, d)\n            {JOIN_V}\n": (
            "        P = 0 if past is None else past[2]\n"
            '        kept = [x.new_zeros(B, H, 400, d) for _ in "kv"] if past is None else past[:2]\n'
            "        for one, new in zip(kept, (k, v)):\n"
            f"            {write}\n"
            f"        k, v = {read}\n"
        ),
        PAIR: "return self.out_linear(mixed), (*kept, P + T)",
        LENGTH: "P = 0 if cache is None else cache[0][2]",
    }


POSITION = (
    Mistake(
        "positions_from_0",
        "new tokens get the positions 0, 1, 2, … even if there is a cache; begin at P, the number of cached tokens",
        {POSITIONS: "positions = torch.arange(ids.shape[1], device=ids.device)"},
    ),
    Mistake(
        "all_at_position_p",
        "all new tokens of a call get the same position; new token t has position P + t",
        {POSITIONS: "positions = torch.full((ids.shape[1],), P, device=ids.device)"},
        {POSITIONS: "positions = torch.full((ids.shape[1],), end - 1, device=ids.device)"},
        {POSITIONS: f"{POSITIONS} if cache is None else torch.full((ids.shape[1],), P, device=ids.device)"},
    ),
    Mistake(
        "positions_one_off",
        "with a cache, the new tokens' positions are one too small; new token t has position P + t",
        {POSITIONS: "positions = torch.arange(P, end, device=ids.device) - (P > 0)"},
    ),
    Mistake(
        "length_of_another_axis",
        "the number of cached tokens is read from a wrong place, such as the axis of the heads or the number of "
        "layers; read it from the axis of the tokens",
        {LENGTH: [LENGTH.replace("shape[2]", f"shape[{axis}]") for axis in (0, 1, 3)]},
        {LENGTH: "P = 0 if cache is None else len(cache)"},
    ),
    Mistake(
        "positions_of_the_embedding_clamped",
        "beyond the context, all tokens get the last position; refuse them in forward, and read the last C tokens "
        "anew in generate",
        {LIMIT: "if ids.shape[1] > self.context:", POSITIONS: CLAMPED, FULL: "if cache is None:"},
        {LIMIT: "if False:", POSITIONS: CLAMPED, FULL: "if cache is None:"},
    ),
)
MASK = (
    Mistake(
        "top_left",
        "with a cache, new token t sees only the first t + 1 keys, as if it stood at the start; it stands at P + t, "
        "so shift the mask's diagonal by P",
        {DIAGONAL: ".tril()"},
    ),
    Mistake(
        "no_mask_with_a_cache",
        "with a cache there is no mask, so several new tokens see later ones; leave the mask out only for a single "
        "new token",
        {SEEN: f"{SEEN} | (past is not None)"},
    ),
    Mistake("not_causal", "tokens see later ones of the same call; hide the keys after P + t", {DIAGONAL: ""}),
    Mistake(
        "next_token_seen",
        "a token also sees the one after it; shift the diagonal by P, and no more",
        {"(S - T)": "(S - T + 1)"},
    ),
    Mistake(
        "itself_hidden",
        {"(S - T)": "(S - T - 1)"},
        {"(S - T)": "(S - T - 1 if past is not None else 0)"},
    ),
    Mistake(
        "window_of_the_new",
        "with a cache, a token sees only as many of the last keys as there are new tokens; it sees all of the past",
        {DIAGONAL: f"{DIAGONAL}.triu(S - T)"},
    ),
    Mistake(
        "mask_of_a_fixed_size",
        "the mask is made for a number of tokens that does not depend on context, and longer texts do not fit; make it "
        "for each call, or for context tokens",
        {SEEN: "torch.ones(128, 128, dtype=torch.bool, device=x.device).tril()[S - T : S, :S]"},
    ),
    Mistake("hidden_by_1e9", {"-torch.inf": "-1e9"}),
    Mistake("hidden_by_1e4", {"-torch.inf": "-1e4"}),
    Mistake("hidden_by_0", {"-torch.inf": "0.0"}),
    Mistake("maximum_floored", {WEIGHTS: [f"(lambda e: e / e.sum(-1, keepdim=True))({e})" for e in FLOORED]}),
    Mistake("masked_after_softmax", {WEIGHTS: "scores.softmax(dim=-1) * seen"}),
    Mistake("softmax_over_queries", {WEIGHTS: WEIGHTS.replace("-1", "-2")}),
)
CACHE = (
    Mistake(
        "past_after_the_new",
        "the past is appended after the new tokens; it should come before them",
        joined("k = torch.cat([k, past[0]], dim=2)", "v = torch.cat([v, past[1]], dim=2)"),
    ),
    Mistake(
        "keys_for_values",
        "the keys of the cache are put before the new values; put the values of the cache there",
        {JOIN_V: JOIN_V.replace("past[1]", "past[0]")},
    ),
    Mistake(
        "cache_not_used",
        "the cached keys and values are not used: new tokens see only each other; put the past before them",
        joined("pass", "pass"),
        {BLOCK_CALL: "x, pair = block(x)"},
    ),
    Mistake(
        "only_the_new_returned",
        "the returned cache has only the keys and values of the new tokens; return all of them",
        {PAIR: PAIR.replace("(k, v)", "(k[:, :, S - T :], v[:, :, S - T :])")},
    ),
    Mistake(
        "cache_not_extended",
        "with a cache, the same cache comes back without the new tokens; return the keys and values of all tokens",
        {RESULT: RESULT.replace("kept", "cache or kept")},
    ),
    Mistake(
        "one_layers_cache_for_all",
        "all blocks read the same part of the cache; give each block the keys and values that it made itself",
        {"zip(self.blocks, pasts, strict=True)": "((block, pasts[0]) for block in self.blocks)"},
        {"zip(self.blocks, pasts, strict=True)": "((block, pasts[-1]) for block in self.blocks)"},
        {RESULT: RESULT.replace("kept", "kept[-1:] * len(kept)")},
    ),
    Mistake(
        "cache_changed_in_place",
        "the cache that is given is written into, so another continuation of the same text finds this one's tokens; "
        "make a new cache in each call",
        {
            "kept = []": "kept = pasts",
            KEPT: "kept[self_i] = pair",
            "for block, past in zip(self.blocks, pasts, "
            "strict=True)": "for self_i, (block, past) in enumerate(zip(self.blocks, list(pasts), strict=True))",
        },
        {"class Block": ROOM.lstrip("\n"), **joined("k = grown(past[0], k)", "v = grown(past[1], v)")},
        preallocated("one[:, :, P : P + T] = new", "(one[:, :, : P + T] for one in kept)"),
        preallocated(
            "one[:, :, P : P + T] = new.detach()",
            "(torch.cat([one[:, :, :P], new], dim=2) for one, new in zip(kept, (k, v)))",
        ),
    ),
    Mistake(
        "kept_in_the_model",
        "the model keeps the past by itself and does not read the cache that it is given, which may belong to another "
        "text; keep nothing in the model",
        {
            PAIR: f"self.past = k, v\n        {PAIR}",
            JOIN_K: JOIN_K.replace("past[0]", "self.past[0]"),
            JOIN_V: JOIN_V.replace("past[1]", "self.past[1]"),
        },
        {
            POSITIONS: f"self.length = end\n        {POSITIONS}",
            LENGTH: "P = 0 if cache is None else self.length",
        },
        {
            PAIR: f"self.past = k, v\n        {PAIR}",
            JOIN_K: JOIN_K.replace("past[0]", "self.past[0]"),
            JOIN_V: JOIN_V.replace("past[1]", "self.past[1]"),
            POSITIONS: f"self.length = end\n        {POSITIONS}",
            LENGTH: "P = 0 if cache is None else self.length",
        },
    ),
    Mistake(
        "old_tokens_mapped_again",
        "old tokens go through the model's maps again in each call; keep their keys and values, and map only new ones",
        {
            SPLIT.format("k"): "self.k_linear(x := x if past is None else torch.cat([past[2], x], 1))"
            ".view(B, -1, H, d).transpose(1, 2)",
            SPLIT.format("v"): "self.v_linear(x).view(B, -1, H, d).transpose(1, 2)",
            **joined("pass", "pass"),
            PAIR: "return self.out_linear(mixed), (k, v, x)",
        },
        {
            LENGTH: "T, ids = ids.shape[1], ids if cache is None else torch.cat([cache, ids], 1)\n        P = 0",
            PASTS: "pasts = [None] * len(self.blocks)",
            RESULT: "return x[:, -T:] @ self.token_embedding.weight.mT, ids",
        },
    ),
    Mistake(
        "last_logits_only",
        "only the last new token's logits are returned; return the logits of all T new tokens",
        {RESULT: RESULT.replace("return x", "x = x if cache is None else x[:, -1:]\n        return x")},
    ),
    Mistake(
        "texts_kept",
        "the model keeps what it made in every call, so its memory grows with every text; keep nothing in the model",
        {PAIR: f'self.__dict__.setdefault("kept", []).append((k, v))\n        {PAIR}'},
        slow=True,
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
            SPLIT.format(name): SPLIT.format(name).replace("(B, T, H, d).transpose(1, 2)", "(B, H, T, d)")
            for name in "qkv"
        },
    ),
    Mistake("heads_merged_without_transpose", {MERGE: "mixed = (weights @ v).reshape(B, T, D)"}),
    Mistake("no_output_map", {"self.out_linear(mixed)": "mixed"}),
    Mistake(
        "gelu_by_tanh",
        {GELU: GELU[:-1] + ', approximate="tanh")'},
    ),
    Mistake(
        "no_last_norm",
        "ln_f is not applied; the output projection should read ln_f(x)",
        {"        x = self.ln_f(x)\n": ""},
    ),
    Mistake(
        "loss_without_gradients",
        "no gradient flows from the loss; only generate may do without gradients",
        {"    def forward(self, ids": "    @torch.no_grad()\n    def forward(self, ids"},
        {"return F.cross_entropy(…": "return F.cross_entropy(….detach()"},
        {
            RESULT: f"kept = [(k.detach(), v.detach()) for k, v in kept]\n        {RESULT}",
            LOSS_LOGITS: "first, cache = self(ids[:, :1])\n        more, _ = self(ids[:, 1:], cache)\n        "
            "logits = torch.cat([first, more], 1)\n",
        },
    ),
    Mistake(
        "labels_not_shifted",
        "each token is its own label; the label at position s is the token at s + 1",
        {PREDICTING: "logits = logits.flatten(0, 1)", "ids[:, 1:].flatten()": "ids.flatten()"},
    ),
)
WRITING = (
    Mistake(
        "generate_without_the_cache",
        "generate reads the whole text again where it fits the context, or just fills it; read the newest token alone "
        "then, with the cache",
        {FULL: "if True:"},
        {FULL: FULL.replace(">", ">=")},
    ),
    Mistake(
        "text_read_twice",
        "with a cache, generate reads tokens again that are already in it; read the newest token alone",
        {STEP: STEP.replace("ids[:, -1:]", "ids")},
        {STEP: STEP.replace("ids[:, -1:]", "ids[:, -2:]")},
    ),
    Mistake(
        "newest_token_alone",
        "generate shows the model the newest token without the cache; hand the cache on",
        {STEP: "logits, cache = self(ids[:, -1:])"},
    ),
    Mistake(
        "first_cache_used_again",
        "each step continues the prompt's cache, so that new tokens are forgotten; continue the cache of the step "
        "before",
        {STEP: STEP.replace("cache =", "_ =")},
    ),
    Mistake(
        "more_than_the_context",
        "generate gives the model more tokens than the context has; once the text is longer than that, read its last C "
        "tokens anew in each step",
        {FULL: "if cache is None:"},
        {CROPPED: "seen = ids"},
    ),
    Mistake(
        "oldest_dropped",
        "once the text is longer than the context, the oldest keys and values are dropped from the cache; all "
        "positions move, so read the last C tokens anew in each step",
        *(
            {
                FULL: "if cache is None:",
                STEP: f"if cache[0][0].shape[2] >= self.context{more}:\n                    "
                f"cache = [(k[:, :, 1{more}:], v[:, :, 1{more}:]) for k, v in cache]\n                {STEP}",
            }
            for more in ("",)
        ),
        {
            FULL: "if cache is None:",
            STEP: f"left = self.context - 1\n                cache = [(k[:, :, -left:], v[:, :, -left:]) for k, v in "
            f"cache]\n                {STEP}",
        },
        {
            FULL: "if cache is None:",
            STEP: f"left = self.context - 1\n                cache = [(k[:, :, k.shape[2] - left if k.shape[2] > left "
            f"else 0 :], v[:, :, v.shape[2] - left if v.shape[2] > left else 0 :]) for k, v in cache]"
            f"\n                {STEP}",
        },
    ),
    Mistake(
        "half_kept",
        "once the cache is full, a shorter text than C tokens is read anew; each step should see the last C",
        {
            FULL: "if cache is None or cache[0][0].shape[2] >= self.context:",
            CROPPED: "seen = ids[:, -(self.context if cache is None else max(self.context // 2, 1)) :]",
        },
        {
            FULL: "if cache is None or cache[0][0].shape[2] >= self.context:",
            CROPPED: "seen = ids[:, -self.context :] if cache is None else ids[:, -1:]",
        },
    ),
    Mistake(
        "window_one_short",
        "the model is shown one token less than fits into the context; show it the last C tokens",
        {FULL: FULL.replace(">", ">="), CROPPED: "seen = ids[:, -self.context + 1 :]"},
        {CROPPED: "seen = ids[:, -self.context + 1 :]"},
    ),
    Mistake(
        "refilled_too_late",
        "the cache is read anew one step too late, when it already holds more than the context; read the last C "
        "tokens anew as soon as the text has more than C",
        {FULL: FULL.replace("self.context", "self.context + 1")},
        {
            FULL: FULL.replace("self.context", "self.context + 1"),
            LIMIT: "if end > self.context + 1:",
            POSITIONS: CLAMPED,
        },
    ),
    Mistake(
        "cropped_at_the_end",
        "the first C tokens are kept when a text is too long; keep the last ones",
        {CROPPED: "seen = ids[:, : self.context]"},
    ),
    Mistake(
        "cache_of_an_earlier_text",
        "generate begins with the cache that an earlier call left in the model; begin without a cache",
        {
            START: '        cache = getattr(self, "last", None)\n',
            "            logits = logits[:, -1]": "            self.last = cache\n            logits = logits[:, -1]",
        },
    ),
    Mistake(
        "always_greedy",
        "the best token is taken at any temperature; above 0, draw one",
        {"if temperature == 0:": "if temperature >= 0:"},
    ),
    Mistake(
        "temperature_ignored",
        "the temperature does not count; divide the logits by it",
        {DRAWN_FROM: "p = torch.softmax(logits.double(), dim=-1)"},
    ),
    Mistake(
        "generator_ignored",
        "the generator is not used; hand it to torch.multinomial",
        {"torch.multinomial(…": "torch.multinomial(p, 1)"},
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
        {"torch.multinomial(…": f"torch.searchsorted(p.cumsum(1), {ONE_NUMBER} + 0 * p[:, :1], right=True)"},
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
        {"(weights @ v)": "torch.stack([weights[:, h] @ v[:, h] for h in range(H)], dim=1)"},
        slow=True,
    ),
    Mistake("table_of_products", {"q @ k.mT": "(q.unsqueeze(3) * k.unsqueeze(2)).sum(-1)"}, slow=True),
)
MISTAKES = (*POSITION, *MASK, *CACHE, *MODEL, *WRITING, *COST)
ON_CPU = "on the CPU it is made on the device of the ids anyway; on a GPU the call raises"
# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
TURNED = (*(f"{name} = {SPLIT.format(name)}" for name in "qkv"), MERGE)
EQUIVALENT = {
    f"seen = {SEEN} -> seen = {SEEN.replace(', device=x.device', '')}": ON_CPU,
    f"{POSITIONS} -> {POSITIONS.replace(', device=ids.device', '')}": ON_CPU,
    "for block, past in zip(self.blocks, pasts, strict=True): -> for block, past in zip(self.blocks, pasts):": "there "
    "is a part for each block",
    "for block, past in zip(self.blocks, pasts, strict=True): -> for block, past in zip(self.blocks, pasts, "
    "strict=False):": "there is a part for each block",
    "token = logits.argmax(dim=-1, keepdim=True) -> token = logits.argmax(dim=1, keepdim=True)": "of two axes, the "
    "second is the last",
    f"{DRAWN_FROM} -> {DRAWN_FROM.replace('-1', '1')}": "of two axes, the second is the last",
    f"{DRAWN_FROM} -> {DRAWN_FROM.replace('.double()', '')}": "generate is not tested in half precision",
    **{
        f"{LENGTH} -> {LENGTH.replace('[0][0]', place)}": "all keys and values of a cache are of the same tokens"
        for place in ("[-1][0]", "[0][1]", "[0][-1]")
    },
    **{
        f"{line} -> {line.replace('(1, 2)', '(2, 1)')}": "transposing axes 2 and 1 is transposing 1 and 2"
        for line in TURNED
    },
}
# What every seed asks alike -> why.
FIXED = {
    "axis 0 of weights": "all parameters stand in one row",
    "length of sizes": "they are V, C, D, H and L",
    "length of names": "the names of all parameters of one model",
    "*after*": "which call each text continues",
    "length of before": "one whole text and one part",
}
