"""What is checked of kv_cache."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, attention, bans, last_places

Cache = tuple[Tensor, Tensor]


class Right(nn.Module):
    """One map makes q, k and v, and torch's own attention is told which keys each new token sees."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.sizes = (num_heads, embed_dim // num_heads)
        for name in ("q", "k", "v", "out"):
            setattr(self, f"{name}_linear", nn.Linear(embed_dim, embed_dim))

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        q, k, v = (getattr(self, f"{name}_linear")(x).unflatten(2, self.sizes).transpose(1, 2) for name in "qkv")
        if cache is not None:
            k, v = (torch.cat(pair, 2) for pair in zip(cache, (k, v), strict=True))
        at = torch.arange(k.shape[2])
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=at <= at[-x.shape[1] :, None])
        return self.out_linear(heads.transpose(1, 2).flatten(2)), (k, v)


def in_chunks(
    CachedAttention,
    x,
    weights,
    biases,
    num_heads,
    chunks,
    past=None,
    after=None,
    training=True,
    rehearsed=False,
    recording=True,
):
    """Each call gets the next few tokens, and the cache of the call before it, or of the call that `after` names.

    The first one has none, or k and v of the `past`.
    """
    layer = CachedAttention(x.shape[2], num_heads).to(x).train(training)
    CachedAttention(x.shape[2], x.shape[2])  # another layer, which is no matter of this one
    names = ("q_linear", "k_linear", "v_linear", "out_linear")
    own = {f"{name}.weight": weight for name, weight in zip(names, weights, strict=True)}
    own |= {f"{name}.bias": bias for name, bias in zip(names, biases, strict=True)}
    if rehearsed:
        with torch.inference_mode():
            layer(x[:, : chunks[0]])
    caches, found = [None if past is None else past.unbind()], {}
    for number, tokens in enumerate(x.split(chunks, 1), start=1):
        before = after[number - 1] if after else number - 1
        inputs = (tokens, caches[before]) if caches[before] else (tokens,)
        with torch.set_grad_enabled(recording):
            out, cache = torch.func.functional_call(layer, own, inputs)
        caches.append(cache)
        found[f"call {number}"] = {"out": out, "k": cache[0], "v": cache[1]}
    if after:
        found["each cache is a pair"] = not any(isinstance(cache, torch.Tensor) for cache in caches)
    return found  # looked at after the last call


def a_new_layer(CachedAttention, embed_dim, num_heads):
    layer = CachedAttention(embed_dim, num_heads)
    shapes = {name: list(one.shape) for name, one in layer.named_parameters()}
    return {"is an nn.Module": isinstance(layer, nn.Module), "parameters": dict(sorted(shapes.items()))}


def one_step(CachedAttention, x, k, v):
    """A call that continues this cache."""
    layer = CachedAttention(x.shape[2], k.shape[1]).to(x)
    out, cache = layer(x, (k, v))
    return list(out.shape), list(cache[0].shape)


def texts_in_turn(CachedAttention, x, num_heads, calls):
    """One layer gets new texts in each call, and nothing that it returned is kept."""
    layer = CachedAttention(x.shape[2], num_heads).to(x)
    for _ in range(calls):
        out, cache = layer(x)
    return list(out.shape), list(cache[0].shape)


def refused(CachedAttention, x, k, v):
    CachedAttention(6, 3).to(x)(x, (k, v))


def layer(draw: Draw, D: int, num_heads: int, std: float = 1.0) -> Arguments:
    """Of the four maps q_linear, k_linear, v_linear and out_linear, in this order."""
    return {
        "weights": draw.normal(4, D, D, std=std * D**-0.5),
        "biases": draw.normal(4, D, std=0.5),
        "num_heads": num_heads,
    }


def text(draw: Draw, B: int, D: int, num_heads: int, *chunks: int) -> Arguments:
    return {"x": draw.normal(B, sum(chunks), D), **layer(draw, D, num_heads), "chunks": [*chunks]}


def texts(*sizes: tuple[int, ...]) -> Inputs:
    return lambda draw: [text(draw, *size) for size in sizes]


def token_by_token(draw: Draw) -> list[Arguments]:
    """Also two tokens after a past beyond a mask of 1,024."""
    made = [text(draw, 2, 6, 3, 3, 1, 1, 1), text(draw, 1, 4, 2, 3, *[1] * 5)]
    return [*made, text(draw, 1, 4, 2, 2) | {"past": draw.normal(2, 1, 2, 1100, 2)}]


def chunks(draw: Draw) -> list[Arguments]:
    made = [text(draw, 2, 6, 2, *each) for each in ((3, 2), (1, 4), (2, 2, 3), (4, 1, 2, 1))]
    made[0]["biases"][0], made[0]["x"][:, 4] = 0, 0  # the last token scores 0 with every key
    (B, d), H = draw.shape(2, most=5), draw.size(6, 9)
    any_size = text(draw, B, H * d, H, *(draw.size(1, 9) for _ in range(draw.size(3, 5))))
    return [*made, text(draw, 2, 6, 3, 2, 3) | {"training": False}, any_size]


def continued_twice(draw: Draw) -> list[Arguments]:
    """Two texts continue what call 1 or call 2 returned, by one token or by several; the first of them goes on.

    So a call can have a shorter past than one before it with as many new tokens, and a longer one than all calls since
    the last new text together. One text is in eval mode, where some write into memory that they keep. In the third,
    three single tokens and then a new text of three end at the same length.
    """
    sizes = (((2, 6, 3, 3, 1, 2, 2), [0, 1, 2, 1]), ((2, 6, 2, 3, 1, 1, 1, 1, 1, 2), [0, 1, 2, 2, 3, 0, 4]))
    sizes = (*sizes, ((2, 6, 3, 1, 1, 1, 3), [0, 1, 2, 0]))
    made = [text(draw, *size) | {"after": after} for size, after in sizes]
    made[0]["training"] = False
    return made


def continued_under_no_grad(draw: Draw) -> list[Arguments]:
    """As a model writes: some write into memory that they keep only where no gradients are recorded."""
    return [one | {"recording": False} for one in continued_twice(draw)]


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """Each token's score with itself is below 0: it is all that the first token sees."""
    made = [text(draw, 2, 6, 2, *each) for each in ((1,), (4,), (2, 3))]
    for one in made:
        one["x"] *= size**0.5
        one["weights"][1] = -one["weights"][0]
    return made


def caches_of_other_sizes(draw: Draw) -> list[Arguments]:
    """B = 2, H = 3 and d = 2 with four tokens; k and v are both wrong, or v alone."""
    x, fits = draw.normal(2, 1, 6), draw.normal(2, 3, 4, 2)
    wrong = [draw.normal(*size) for size in ((1, 3, 4, 2), (3, 3, 4, 2), (2, 1, 4, 2), (2, 2, 4, 3), (2, 3, 4, 1))]
    return [{"x": x, "k": k, "v": one} for one in wrong for k in (one, fits)]


GRADER = Grader(
    answers=(
        Answer(
            "class CachedAttention(embed_dim, num_heads)",
            methods=("forward(x, cache=None)",),
            oracle=Right,
            differentiable=("x", "weights", "biases"),
            tolerance=last_places(8, absolute=8),
            cases=(
                Case("prompt", texts((2, 8, 4, 5)), scenario=in_chunks),
                Case("token_by_token", token_by_token, scenario=in_chunks),
                Case("chunks", chunks, half=True, scenario=in_chunks),
                Case("one_of_all", texts((1, 1, 1, 1), (1, 5, 1, 1, 2), (2, 5, 5, 2, 1)), scenario=in_chunks),
                Case("continued_twice", continued_twice, scenario=in_chunks),
                Case("continued_under_no_grad", continued_under_no_grad, scenario=in_chunks, gradients="none"),
                Case(
                    "after_inference",
                    lambda draw: text(draw, 2, 6, 2, 6, 2) | {"rehearsed": True},  # a size of no other case
                    scenario=in_chunks,
                    category="robustness",
                    dtypes=(torch.float64,),
                ),
                Case(
                    "a_new_layer",
                    lambda draw: {"embed_dim": 2 * draw.size(2, 9), "num_heads": 2},
                    scenario=a_new_layer,
                    dtypes=(torch.float32,),
                    gradients="none",
                ),
                attention.large_scores(large_scores, scenario=in_chunks, gradients="none"),
                Case(
                    "heads_do_not_divide",
                    lambda draw: [{"embed_dim": D, "num_heads": H} for D, H in ((10, 4), (4, 8))],
                    scenario=a_new_layer,
                    raises=ValueError,
                ),
                Case("cache_of_other_sizes", caches_of_other_sizes, scenario=refused, raises=ValueError),
            ),
            budgets=(
                replace(
                    attention.small_heads(
                        lambda draw, B, H, S, d: text(draw, B, H * d, H, S, 4), init=None, scenario=in_chunks
                    ),
                    sizes=dict.fromkeys(attention.LOOPS, (4, 24)),
                ),
                replace(
                    attention.long_sequences(
                        lambda draw, B, H, S, d: text(draw, B, H * d, H, S, 8),
                        init=None,
                        name="long_texts",
                        scenario=in_chunks,
                    ),
                    sizes={"heads": (1, 4), "tokens": (64, 256), "channels": (8, 32)},
                ),
                Budget(
                    "many_texts",
                    sizes={"texts": (128, 1536)},
                    inputs=lambda draw, texts: {"x": draw.normal(32, 4, 64), "num_heads": 2, "calls": texts // 32},
                    asks=("memory",),
                    peak=2,
                    scenario=texts_in_turn,
                    hints={"texts": "keep nothing of a text in the layer: its past is in the cache"},
                ),
                Budget(
                    "long_past",
                    sizes={"heads": (16, 64), "past": (64, 1100)},  # beyond a mask of 1,024 tokens
                    inputs=lambda draw, heads, past: {
                        "x": draw.normal(1, 2, 8 * heads),
                        **{name: draw.normal(1, heads, past, 8) for name in "kv"},
                    },
                    asks=("memory",),
                    scenario=one_step,
                    hints={"past": "old tokens need no scores: take only the queries of the new tokens"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)
