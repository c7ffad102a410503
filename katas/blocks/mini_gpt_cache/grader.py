"""What is checked of mini_gpt_cache."""

import math

import torch
from torch import nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, attention, bans, gpt


class Right(gpt.GPT):
    """The cache is the text so far, all of which is read anew."""

    def forward(self, ids, cache=None):
        text = ids if cache is None else torch.cat([cache, ids], 1)
        return self.scores(text)[:, -ids.shape[1] :], text


# Scenarios, besides those of graders/kata/gpt.py.


def in_chunks(MiniGPT, ids, weights, layout, sizes, chunks, after=None, training=True, recording=True):
    """Each call reads the next few tokens, with the cache of the call before it, or of the call that `after` names.

    The first call, and each one after 0, has no cache.
    """
    model = MiniGPT(*sizes).to(weights).train(training)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    caches, found = [None], {}
    for number, tokens in enumerate(ids.split(chunks, 1), start=1):
        before = after[number - 1] if after else number - 1
        with torch.set_grad_enabled(recording):
            logits, cache = model(tokens, caches[before]) if before else model(tokens)
        caches.append(cache)
        found[f"logits of call {number}"] = logits
    return found


def rows_mapped(MiniGPT, ids, sizes, chunks, new_tokens):
    """Whether the weight of an nn.Linear meets more rows, in any function, than there are tokens to be read."""
    model, rows = MiniGPT(*sizes).to(ids.device), {}
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    linear = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    widths = {layer.weight.untyped_storage().data_ptr(): layer.in_features for layer in linear}

    class Counting(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            given = {one.untyped_storage().data_ptr(): one for one in args if isinstance(one, torch.Tensor)}
            for weight in widths.keys() & given.keys():
                others = [one.numel() // widths[weight] for place, one in given.items() if place not in parameters]
                rows[weight] = rows.get(weight, 0) + max(others, default=0)
            return function(*args, **(kwargs or {}))

    found, cache = {}, None
    with Counting():
        for number, tokens in enumerate(ids.split(chunks, 1), start=1):
            rows.clear()
            cache = (model(tokens) if cache is None else model(tokens, cache))[1]
            found[f"call {number} maps only new tokens"] = max(rows.values(), default=0) <= tokens.numel()
        rows.clear()
        text = model.generate(ids, new_tokens)
        found["generate maps each token once"] = max(rows.values(), default=0) <= text.numel()
    return found


def beyond_the_context(MiniGPT, ids, sizes, past):
    model = MiniGPT(*sizes).to(ids.device)
    cache = model(ids[:, :past])[1]
    return model(ids[:, past:], cache)[0]


def continued_often(MiniGPT, ids, weights, layout, sizes, past):
    """Each further token continues the same text."""
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    with torch.no_grad():
        cache = model(ids[:, :past])[1]
        return torch.cat([model(token, cache)[0] for token in ids[:, past:].split(1, 1)], 1)


def texts_in_turn(MiniGPT, ids, sizes, texts):
    """One model reads as many texts, and nothing that it returned is kept."""
    model = MiniGPT(*sizes).to(ids.device)
    with torch.no_grad():
        for _ in range(texts):
            logits = model(ids)[0]
    return list(logits.shape)


def long_writing(MiniGPT, ids, sizes, new_tokens):
    model = MiniGPT(*sizes).to(ids.device)
    return list(model.generate(ids, new_tokens).shape)


# Inputs


def text(draw: Draw, B: int, chunks: list[int], *sizes: int, **more: float) -> Arguments:
    return {**gpt.tokens(draw, B, sum(chunks), *sizes, **more), "chunks": chunks}


def chunks(draw: Draw) -> list[Arguments]:
    """The last text has any sizes; those before it fill the context, or are read in eval mode."""
    made = [text(draw, 2, each, *gpt.USUAL) for each in ([3, 2], [1, 4], [2, 2, 2])]
    B, S, V, _, D, H, L = gpt.any_sizes(draw)
    any_chunks = [S, *(draw.size(1, 5) for _ in range(draw.size(2, 4)))]
    C = sum(any_chunks) + draw.size(0, 3)
    return [
        *made,
        text(draw, 3, [2, 3, 1], *gpt.USUAL) | {"training": False},
        text(draw, B, any_chunks, V, C, D, H, L),
    ]


def token_by_token(draw: Draw) -> list[Arguments]:
    C = draw.size(7, 11)
    return [text(draw, 2, [draw.size(2, 4), *[1] * 3], 7, C, 12, 3, 2), text(draw, 1, [1] * C, 5, C, 6, 2, 3)]


def long_context(draw: Draw) -> Arguments:
    C = draw.size(257, 320)
    return text(draw, 1, [C - 3, 1, 2], 5, C, 4, 2, 1)


def continued_twice(draw: Draw) -> list[Arguments]:
    """Calls continue a text side by side, by one token or by several, and texts begin in between.

    So a call can have a shorter past than the one before it, and a cache can be continued after its continuation was.
    """
    plans = (([3, 1, 2, 2, 1], [0, 1, 2, 1, 4]), ([2, 1, 1, 1, 4, 1, 1, 2, 1], [0, 1, 2, 2, 0, 3, 5, 1, 4]))
    made = []
    for sizes, after in plans:
        made.append(text(draw, 2, sizes, 7, draw.size(8, 10), 12, 3, 2) | {"after": after})
    made[0]["training"] = False
    return made


def without_gradients(draw: Draw) -> list[Arguments]:
    """Some write into memory that they keep only where nothing is recorded."""
    return [one | {"recording": False} for one in continued_twice(draw)]


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """24 scores of a first token with itself, which is all that it sees: some are far below 0."""
    return [text(draw, 8, [1, 3], *gpt.USUAL, q_linear=size / 2)]


def prompts(draw: Draw) -> list[Arguments]:
    """New tokens, B, S, V, C, D, H and L: within the context, to its last place, beyond it, and from beyond it on."""
    C = draw.size(5, 7)
    return [
        gpt.clear(draw, 3, 2, 2, 7, 9, 12, 3, 2) | {"alone": True},
        gpt.clear(draw, C - 1, 2, 2, 7, C, 12, 3, 2),
        gpt.clear(draw, draw.size(9, 12), 3, 3, *gpt.USUAL),
        gpt.clear(draw, draw.size(7, 10), 2, 6, *gpt.USUAL),
        gpt.clear(draw, 4, 2, 9, *gpt.USUAL),
        gpt.clear(draw, 3, 2, 2, 9, 1, 8, 2, 1),
    ]


def after_other_texts(draw: Draw) -> list[Arguments]:
    """The model has read texts before, of other lengths and of this one."""
    made = [gpt.tokens(draw, 2, 5, *gpt.USUAL), gpt.tokens(draw, 1, 4, 5, 4, 6, 2, 1)]
    return [one | {"before": [one["ids"].shape[1], draw.size(1, 3)]} for one in made]


def too_long(draw: Draw) -> list[Arguments]:
    """Cached and new tokens together, of which each would fit."""
    made = []
    for past, new, C in ((6, 1, 6), (4, 3, 6), (1, 5, 5), (draw.size(2, 5), 4, 5)):
        made.append({"ids": draw.integers(2, past + new, high=7), "sizes": [7, C, 8, 2, 2], "past": past})
    return made


IN_FLOAT32 = {"dtypes": (torch.float32,)}
GRADER = Grader(
    answers=(
        Answer(
            "class MiniGPT(vocab_size, context, dim, heads, layers)",
            methods=(
                "forward(ids, cache=None)",
                "loss(ids)",
                "generate(ids, new_tokens, temperature=0.0, generator=None)",
            ),
            oracle=Right,
            records=True,
            tolerance=gpt.TOLERANCE,
            cases=(
                Case(
                    "text_and_chunks",
                    lambda draw: [
                        text | {"chunks": each} for text in [gpt.calm(draw, units=1.8)] for each in ([5], [2, 3])
                    ],
                    scenario=in_chunks,
                ),
                Case(
                    "every_size",
                    lambda draw: [
                        text(draw, 1, [1], 5, 4, 6, 2, 1),
                        text(draw, 1, [1, 1], 4, 2, 2, 2, 1),
                        text(draw, 3, [3, 1], 9, 4, 4, 1, 3),
                        text(draw, 2, [1, 5], 3, 8, 5, 5, 1),
                    ],
                    scenario=in_chunks,
                ),
                Case("token_by_token", token_by_token, scenario=in_chunks),
                Case("chunks", chunks, scenario=in_chunks),
                Case("long_context", long_context, scenario=in_chunks),
                Case("continued_twice", continued_twice, scenario=in_chunks),
                Case("continued_under_no_grad", without_gradients, scenario=in_chunks),
                Case("takes_the_loss", gpt.texts((2, 5, *gpt.USUAL), (1, 2, 5, 4, 6, 2, 1)), scenario=gpt.loss),
                Case(
                    "loss_after_other_texts",
                    after_other_texts,
                    scenario=gpt.loss,
                    category="robustness",
                    dtypes=(torch.float64,),
                ),
                Case("writes_greedily", prompts, scenario=gpt.written),
                Case("generators", gpt.with_and_without_a_generator, scenario=gpt.generators, **IN_FLOAT32),
                Case("a_new_model", lambda draw: gpt.made_of(7, 5, 6, 2, 2), scenario=gpt.a_new_model, **IN_FLOAT32),
                Case(
                    "maps_each_token_once",
                    lambda draw: {
                        "ids": draw.integers(2, 7, high=8),
                        "sizes": [8, 12, 8, 2, 2],
                        "chunks": [3, 1, 2, 1],
                        "new_tokens": 6,  # the last one is read with the context full
                    },
                    scenario=rows_mapped,
                    core=False,
                    **IN_FLOAT32,
                ),
                attention.large_scores(large_scores, scenario=in_chunks, gradients="none"),
                Case(
                    "heads_do_not_divide",
                    lambda draw: [
                        gpt.made_of(7, 5, 6, 2, 1) | {"sizes": [7, 5, D, H, 1]} for D, H in ((10, 4), (4, 8))
                    ],
                    scenario=gpt.a_new_model,
                    raises=ValueError,
                ),
                Case(
                    "longer_than_context",
                    lambda draw: [
                        {"ids": draw.integers(2, S, high=7), "sizes": [7, C, 8, 2, 1]} for S, C in ((7, 6), (9, 4))
                    ],
                    scenario=gpt.refused,
                    raises=ValueError,
                ),
                Case("cache_and_text_too_long", too_long, scenario=beyond_the_context, raises=ValueError),
                Case("outside_the_vocabulary", gpt.outside, scenario=gpt.refused, raises=(ValueError, IndexError)),
            ),
            budgets=(
                Budget(
                    "many_small_heads",
                    sizes={"batch": (4, 24), "heads": (4, 24), "tokens": (4, 24)},
                    inputs=lambda draw, batch, heads, tokens: text(
                        draw, batch, [tokens - tokens // 2, tokens // 2], 8, tokens, 2 * heads, heads, 1
                    ),
                    scenario=in_chunks,
                    asks=("loops",),
                    hints=attention.LOOPS,
                ),
                Budget(
                    "long_texts",
                    sizes={"heads": (1, 4), "length": (40, 160), "channels": (4, 16)},
                    peak=3,
                    inputs=lambda draw, heads, length, channels: gpt.tokens(
                        draw, 1, length, 8, length, heads * channels, heads, 1
                    ),
                    scenario=gpt.loss,
                    asks=("memory",),
                    hints={"channels": "@ itself sums over the channels of a head"},
                ),
                Budget(
                    "long_past",
                    sizes={"past": (32, 256)},
                    written=4,
                    inputs=lambda draw, past: gpt.tokens(draw, 1, past + 6, 8, past + 1, 32, 8, 1) | {"past": past},
                    scenario=continued_often,
                    asks=("memory",),
                    hints={"past": "keep keys and values of the past: a new token needs no other work on old ones"},
                ),
                Budget(
                    "long_writing",
                    sizes={"prompt": (40, 160)},
                    written=4,
                    inputs=lambda draw, prompt: {
                        "ids": draw.integers(1, prompt, high=8),
                        "sizes": [8, 200, 32, 8, 1],
                        "new_tokens": 8,
                    },
                    scenario=long_writing,
                    asks=("memory",),
                    hints={"prompt": "as long as the text fits the context, read the newest token alone"},
                ),
                Budget(
                    "many_texts",
                    sizes={"texts": (6, 24)},
                    peak=2,
                    inputs=lambda draw, texts: {
                        "ids": draw.integers(64, 16, high=8),
                        "sizes": [8, 16, 32, 1, 1],
                        "texts": texts,
                    },
                    scenario=texts_in_turn,
                    asks=("memory",),
                    hints={"texts": "keep nothing of a text in the model: its past is in the cache"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def test_drawn_as_probable(submission: Submission, draw: Draw) -> None:
    gpt.drawn_as_probable(submission, draw)
