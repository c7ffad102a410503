"""What is checked of flash_attention and FlashAttention."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Tolerance, attention, bans, last_places


def formula(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    Sq, Sk = q.shape[2], k.shape[2]
    seen = torch.arange(Sk) <= torch.arange(Sq)[:, None] + Sk - Sq
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen if causal else None)


class WholeAttention(torch.autograd.Function):
    """Backward is torch's own."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        ctx.save_for_backward(q, k, v)
        ctx.causal = causal
        return formula(q, k, v, causal)

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        with torch.enable_grad():
            leaves = [one.detach().requires_grad_() for one in ctx.saved_tensors]
            out = formula(*leaves, ctx.causal)
            return *torch.autograd.grad((out * grad_out).sum(), leaves), None


def oracle(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, block_size: int = 64) -> Any:
    return WholeAttention.apply(q, k, v, causal)


# A scenario


def from_the_function(flash_attention, FlashAttention, q, k, v, causal, block_size):
    """FlashAttention.forward gives NaN in place of its results. Is NaN all that comes out?"""
    given, own = [one.clone().requires_grad_() for one in (q, k, v)], FlashAttention.forward

    def nothing(made):
        return torch.full_like(made, torch.nan) if torch.is_tensor(made) and torch.is_floating_point(made) else made

    def spoilt(*args, **more):
        made = own(*args, **more)
        return tuple(nothing(one) for one in made) if isinstance(made, tuple) else nothing(made)

    FlashAttention.forward = staticmethod(spoilt)
    try:
        out = flash_attention(*given, causal, block_size)
    finally:
        FlashAttention.forward = staticmethod(own)
    return {
        "FlashAttention is an autograd.Function": issubclass(FlashAttention, torch.autograd.Function),
        "the result comes from FlashAttention.apply": bool(torch.isnan(out).all()),
    }


# Inputs


def heads(draw: Draw, B: int, H: int, Sq: int, Sk: int, d: int = 4, dv: int = 3, std: float = 1.0) -> Arguments:
    q, k = draw.normal(B, H, Sq, d, std=std), draw.normal(B, H, Sk, d, std=std)
    return {"q": q, "k": k, "v": draw.normal(B, H, Sk, dv)}


def both(made: Arguments, *block_sizes: int) -> list[Arguments]:
    return [made | {"causal": causal, "block_size": size} for size in block_sizes for causal in (False, True)]


def any_size(draw: Draw, B: int, H: int, Sq: int, more: int, d: int, dv: int, block_size: int) -> list[Arguments]:
    return both(heads(draw, B, H, Sq, Sq + more, d, dv), block_size)


def block_sizes(draw: Draw) -> list[Arguments]:
    """From 1 to beyond all keys: divisors of Sq, of Sk and of Sk − Sq, and others."""
    made = both(heads(draw, 1, 2, 6, 10, 3, 2), 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 10**9)
    Sq = draw.size(8, 20)
    made += both(heads(draw, 1, 2, Sq, Sq, 3, 2), 8, draw.size(9, 30))
    Sq = draw.size(70, 90)
    return [*made, *both(heads(draw, 1, 2, Sq, Sq + draw.size(60, 80), 3, 2), 64, draw.size(20, 60))]


def more_queries(draw: Draw) -> list[Arguments]:
    """Without causal."""
    Sk = draw.size(2, 6)
    made = heads(draw, 2, 2, Sk + draw.size(1, 5), Sk)
    return [made, *(made | {"block_size": size} for size in (1, 2, 3))]


def growing_maximum(draw: Draw) -> list[Arguments]:
    """The scores rise from block to block, fall, or do one after the other."""
    S, made = draw.size(9, 12), []
    rise = torch.linspace(-4, 4, S).double()
    for slope in (rise, -rise, rise.abs(), -rise.abs()):
        one = heads(draw, 1, 2, S, S)
        one["q"][..., 0], one["k"][..., 0] = 4, slope
        made += both(one, 2, 5)
    return made


def zero_scores(draw: Draw) -> list[Arguments]:
    """Query 1 scores 0 with every key, query 3 with key 2."""
    made = heads(draw, 2, 2, 5, 6)
    made["q"][:, :, 1], made["q"][:, :, 3, :2], made["k"][:, :, 2, 2:] = 0, 0, 0
    return both(made, 2)


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """In the last, all scores are far below 0."""
    made, low = (heads(draw, 2, 2, 5, 7, std=size**0.5) for _ in range(2))
    return [*both(made, 2, 64), *both(low | {"q": -low["q"].abs(), "k": low["k"].abs()}, 2, 64)]


def many_blocks(draw: Draw) -> list[Arguments]:
    """500 of them, all weights nearly equal. bfloat16 counts in ones only to 256; the values add up to about 150."""
    made = heads(draw, 1, 1, 2, 500, 4, 4, std=0.2)
    made["v"] = (draw.uniform(1, 1, 500, 4) < 0.3).double()
    return [made | {"causal": False, "block_size": 1}]


def disagreeing(draw: Draw) -> list[Arguments]:
    return attention.disagreeing(draw, heads(draw, 2, 3, 4, 5))


def blocks_below_1(draw: Draw) -> list[Arguments]:
    return [heads(draw, 2, 3, 4, 5) | {"block_size": size} for size in (0, -1, -2, -64)]


def causal_with_more_queries(draw: Draw) -> list[Arguments]:
    return [heads(draw, 2, 3, *sizes) | {"causal": True} for sizes in ((5, 4), (2, 1))]


def applied(draw: Draw) -> list[Arguments]:
    Sq = draw.size(2, 6)
    return both(heads(draw, 2, 3, Sq, Sq + draw.size(1, 4)), draw.size(2, 4), 64)


def one_block(draw: Draw, tokens: int, channels: int) -> Arguments:
    return heads(draw, 1, 2, tokens, tokens, channels, channels) | {"causal": True, "block_size": 256}


GRADER = Grader(
    answers=(
        Answer(
            "flash_attention(q, k, v, causal=False, block_size=64)",
            oracle=oracle,
            differentiable=("q", "k", "v"),
            tolerance={torch.float64: Tolerance(1e-9, 1e-9, 1e-11), **last_places(8, absolute=8)},
            cases=(
                Case("five_keys", lambda draw: heads(draw, 2, 3, 4, 5)),
                Case("causal", lambda draw: both(heads(draw, 2, 3, 5, 7), 2), half=True),
                Case(
                    "sizes_of_the_seed",
                    any_size,
                    sizes={
                        "B": (1, 4),
                        "H": (2, 5),
                        "Sq": (2, 8),
                        "more": (1, 8),
                        "d": (2, 9),
                        "dv": (2, 10),
                        "block_size": (2, 7),
                    },
                ),
                Case("block_sizes", block_sizes),
                Case("more_queries", more_queries),
                # Public code adds 1e-10 to the sum of a block that is hidden, which shows where a gradient should be 0.
                Case("growing_maximum", growing_maximum, tolerance={torch.float64: Tolerance(1e-9, 1e-9, 1e-8)}),
                Case("zero_scores", zero_scores),
                Case("one_of_all", lambda draw: both(heads(draw, 1, 1, 1, 1, 1, 1), 1, 64)),
                Case("many_blocks_in_half", many_blocks, category="robustness", dtypes=HALF),
                attention.large_scores(large_scores, gradients="none"),
                Case("shapes_disagree", disagreeing, raises=ValueError),
                Case("block_size_below_1", blocks_below_1, raises=ValueError),
                Case("causal_with_more_queries", causal_with_more_queries, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "long_sequences",
                    sizes={"tokens": (256, 1024)},
                    inputs=lambda draw, tokens: heads(draw, 1, 1, tokens, tokens, 8, 8) | {"block_size": 32},
                    asks=("memory",),
                    peak=2,  # a table of all scores would be six times the reference's
                    written=12,
                    hints={"tokens": "keep the scores of one block at a time, and make them anew in backward"},
                ),
                Budget(
                    "many_channels",
                    sizes={"tokens": (64, 256), "channels": (16, 64)},
                    inputs=one_block,
                    asks=("memory",),
                    hints={"channels": "@ itself sums over the channels of a head"},
                ),
                attention.small_heads(
                    lambda draw, *sizes: heads(draw, *sizes[:3], *sizes[2:], 2) | {"causal": True, "block_size": 16},
                    init=None,
                    hints={"heads": "@ multiplies the matrices of all heads", "tokens": "take a whole block at once"},
                ),
            ),
        ),
        Answer(
            "class FlashAttention",
            oracle=WholeAttention,
            half=False,
            cases=(
                Case(
                    "results_come_from_it",
                    applied,
                    dtypes=(torch.float64,),
                    gradients="none",
                    scenario=from_the_function,
                ),
            ),
        ),
    ),
    banned=("autograd", "checkpoint", *bans.ATTENTION),
)
