"""What is checked of GroupedQueryAttention."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, attention, bans


def parameters(embed_dim: int, num_heads: int, num_kv_heads: int) -> dict[str, tuple[int, ...]]:
    D, shared = embed_dim, embed_dim // num_heads * num_kv_heads
    return attention.layers(q_linear=(D, D), k_linear=(shared, D), v_linear=(shared, D), out_linear=(D, D))


def oracle(
    own: dict[str, Tensor], embed_dim: int, num_heads: int, num_kv_heads: int, x: Tensor, causal: bool = False
) -> Tensor:
    """Queries have an axis for the group and one for the head within it, keys and values only the first."""

    linear = partial(attention.linear, own)
    d = embed_dim // num_heads
    q = linear("q_linear", x).unflatten(2, (num_kv_heads, -1, d))
    k, v = (linear(name, x).unflatten(2, (num_kv_heads, d)) for name in ("k_linear", "v_linear"))
    scores = torch.einsum("bignd,bjgd->bgnij", q, k) / math.sqrt(d)
    if causal:
        at = torch.arange(x.shape[1])
        scores = torch.where(at <= at[:, None], scores, -torch.inf)
    shares = (scores - scores.amax(-1, keepdim=True)).exp()
    heads = torch.einsum("bgnij,bjgd->bignd", shares / shares.sum(-1, keepdim=True), v)
    return linear("out_linear", heads.flatten(2))


def heads(D: int, H: int, G: int) -> dict[str, int]:
    return {"embed_dim": D, "num_heads": H, "num_kv_heads": G}


def tokens(B: int, S: int, D: int, std: float = 1.0, **causal: bool) -> Inputs:
    return lambda draw: {"x": draw.normal(B, S, D, std=std), **causal}


def both(*sizes: tuple[int, int], D: int) -> Inputs:
    """Of B and S, causal and not."""
    return lambda draw: [{"x": draw.normal(B, S, D), "causal": causal} for B, S in sizes for causal in (False, True)]


def any_size(draw: Draw, B: int, S: int, G: int, each: int, d: int) -> list[Arguments]:
    """Of G groups with `each` heads of queries."""
    return both((B, S), D=G * each * d)(draw)


def of_any_size(G: int, each: int, d: int, **others: int) -> dict[str, int]:
    return heads(G * each * d, G * each, G)


SIZES = {"B": (2, 6), "S": (2, 9), "G": (2, 5), "each": (2, 5), "d": (2, 5)}


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """A first token sees one key in each head, and of 24 such scores half are negative."""
    return [{"x": draw.normal(4, 6, 12, std=size**0.5), "causal": causal} for causal in (False, True)]


def large(draw: Draw, B: int, H: int, S: int, d: int) -> Arguments:
    return {"x": draw.normal(B, S, H * d), "causal": True}


GRADER = Grader(
    answers=(
        Answer(
            "GroupedQueryAttention(embed_dim, num_heads, num_kv_heads)",
            forward="forward(x, causal=False)",
            oracle=oracle,
            parameters=parameters,
            differentiable=("x",),
            tolerance=attention.tolerance(4, absolute=14),
            budgets=(
                Budget(
                    "many_small_heads",
                    sizes={"batch": (4, 32), "groups": (2, 16), "tokens": (4, 32)},
                    inputs=lambda draw, batch, groups, tokens: large(draw, batch, 2 * groups, tokens, 2),
                    init=lambda groups, **sizes: heads(4 * groups, 2 * groups, groups),
                    asks=("loops",),
                    hints={**attention.LOOPS, "groups": "give the heads an axis of their own: @ then does all heads"},
                ),
                attention.long_sequences(large, init=lambda D, H: heads(D, H, H // 2)),
            ),
            cases=(
                Case("two_groups_of_three", tokens(2, 4, 30, std=0.5), init=heads(30, 6, 2)),
                Case("causal", tokens(2, 5, 8, std=0.5, causal=True), init=heads(8, 4, 2), half=True),
                Case("every_size", both((1, 1), (1, 5), (4, 1), (4, 3), (3, 7), D=12), init=heads(12, 6, 3)),
                Case("any_size", any_size, init=of_any_size, sizes=SIZES),
                Case("one_head_of_keys", both((2, 4), D=12), init=heads(12, 3, 1)),
                Case("as_many_as_queries", both((2, 4), D=12), init=heads(12, 4, 4)),
                Case("heads_of_one_channel", both((2, 3), D=6), init=heads(6, 6, 2)),
                attention.large_scores(large_scores, init=heads(12, 6, 2), gradients="none"),
                Case("heads_do_not_divide", None, init=heads(12, 8, 4), raises=ValueError),
                Case("heads_of_keys_do_not_divide", None, init=heads(12, 6, 4), raises=ValueError),
                Case("more_heads_of_keys", None, init=heads(12, 2, 4), raises=ValueError),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def lengths_in_turn(GroupedQueryAttention, x, **own):
    layer = GroupedQueryAttention(4, 1, 1).to(x)
    layer.load_state_dict(own, strict=False)
    with torch.no_grad():
        return [layer(x[:, :length], causal=True) for length in (3, 1100, 2)]


def after_others(GroupedQueryAttention, x, **own):
    layer = GroupedQueryAttention(4, 1, 1).to(x)
    layer.load_state_dict(own, strict=False)
    with torch.inference_mode():
        first = layer(x, causal=True)
    GroupedQueryAttention(4, 4, 2)
    return [first, layer(x, causal=True)]


@pytest.mark.robustness
def test_lengths_in_turn(submission: Submission, draw: Draw) -> None:
    """Nothing else has 9 tokens: a mask kept for them is made under inference mode."""
    own = {name: draw.normal(*shape) for name, shape in parameters(4, 1, 1).items()}
    x = draw.normal(1, 1100, 4)
    right = oracle(own, **heads(4, 1, 1), x=x, causal=True)
    for scenario, lengths in ((lengths_in_turn, (3, 1100, 2)), (after_others, (9, 9))):
        wanted = [right[:, :length] for length in lengths]
        attention.same_in_turn(submission, scenario, wanted, x=x[:, : max(lengths)], **own)
