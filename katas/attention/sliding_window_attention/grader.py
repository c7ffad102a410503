"""What is checked of sliding_window_attention."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import (
    HALF,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Submission,
    attention,
    bans,
    last_places,
)


def oracle(q: Tensor, k: Tensor, v: Tensor, window: int, causal: bool = False) -> Tensor:
    at = torch.arange(q.shape[2])
    behind = at[:, None] - at
    seen = (behind <= window) & (behind >= (0 if causal else -window))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def heads(draw: Draw, B: int, H: int, S: int, d: int = 4, dv: int = 3, std: float = 1.0) -> Arguments:
    q, k = draw.normal(B, H, S, d, std=std), draw.normal(B, H, S, d, std=std)
    return {"q": q, "k": k, "v": draw.normal(B, H, S, dv)}


def both(made: Arguments, *windows: int) -> list[Arguments]:
    return [made | {"window": window, "causal": causal} for window in windows for causal in (False, True)]


def any_size(draw: Draw, B: int, H: int, S: int, window: int, d: int, dv: int) -> list[Arguments]:
    return both(heads(draw, B, H, S, d, dv), window)


def seams(draw: Draw) -> list[Arguments]:
    """Lengths that a block of the window's length divides, and those next to them."""
    window = draw.size(3, 5)
    lengths = [2 * window, 3 * window - 1, 3 * window, 3 * window + 1, 4 * window + draw.size(1, window - 1)]
    return [one for S in lengths for one in both(heads(draw, 1, 2, S, 2, 2), window)]


def wide_windows(draw: Draw) -> list[Arguments]:
    """Wider than the usual blocks of 64 and 128 tokens."""
    windows = [65, 129, 200, draw.size(30, 63), draw.size(66, 128), draw.size(130, 260)]
    made = [heads(draw, 1, 2, S, 2, 2) for S in (*(draw.size(260, 320) for _ in windows[1:]), 530)]
    return [one | {"window": w, "causal": bool(i % 2)} for i, (one, w) in enumerate(zip(made, windows, strict=True))]


def whole_sequence(draw: Draw) -> list[Arguments]:
    """The window reaches just to the ends, or somewhat beyond them."""
    S = draw.size(4, 7)
    return both(heads(draw, 2, 2, S), S - 2, S - 1, S, S + 1, draw.size(2 * S, 4 * S))


def zero_scores(draw: Draw) -> list[Arguments]:
    """Query 1 scores 0 with every key, query 3 with key 2."""
    made = heads(draw, 2, 2, 6)
    made["q"][:, :, 1], made["q"][:, :, 3, :2], made["k"][:, :, 2, 2:] = 0, 0, 0
    return both(made, 2)


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """In the last, all scores are far below 0, also where a query has padding next to it."""
    made = heads(draw, 2, 2, 7, std=size**0.5)
    low = heads(draw, 2, 2, 7, std=size**0.5)
    return [*both(made, 2), *both(low | {"q": -low["q"].abs(), "k": low["k"].abs()}, 1, 2)]


def large_scores_in_half(draw: Draw) -> list[Arguments]:
    """Whole numbers make the scores exact. q kᵀ reaches 311 000 and overflows float16; divided by √64 it does not.

    Neighbours beyond the window have higher scores, by more than a constant that is added would take away.
    """
    a, c = 64 - draw.integers(2, 2, 7, 1, high=8), 20 * torch.arange(7) - 44
    k = c[:, None].double().expand(2, 2, 7, 64)
    return both({"q": a.double().expand(2, 2, 7, 64), "k": k, "v": draw.normal(2, 2, 7, 3)}, 1, 2)


def disagreeing(draw: Draw) -> list[Arguments]:
    """Each pair of axes that should be equal is not, and one of the two often is 1; in the last, B · H is equal."""
    changes: list[dict[str, tuple[int, ...]]] = [
        {"q": (1, 3, 5, 4)},
        {"q": (2, 1, 5, 4)},
        {"q": (2, 3, 1, 4)},
        {"q": (2, 3, 4, 4)},
        {"q": (2, 3, 5, 1)},
        {"k": (1, 3, 5, 4)},
        {"k": (2, 1, 5, 4)},
        {"k": (2, 3, 1, 4)},
        {"k": (2, 3, 6, 4)},
        {"k": (2, 3, 5, 1)},
        {"k": (2, 3, 5, 3)},
        {"v": (1, 3, 5, 4)},
        {"v": (2, 1, 5, 4)},
        {"v": (2, 3, 1, 4)},
        {"v": (2, 3, 6, 4)},
        {"k": (2, 3, 6, 4), "v": (2, 3, 6, 4)},
        {"k": (1, 3, 5, 4), "v": (1, 3, 5, 4)},
        {"k": (2, 1, 5, 4), "v": (2, 1, 5, 4)},
        {"k": (3, 2, 5, 4), "v": (3, 2, 5, 4)},
    ]
    usual = heads(draw, 2, 3, 5) | {"window": 2}
    return [usual | {name: draw.normal(*size) for name, size in one.items()} for one in changes]


def long(draw: Draw, tokens: int, window: int) -> Arguments:
    return heads(draw, 1, 1, tokens, 8, 8) | {"window": window}


def wide(draw: Draw, window: int, channels: int) -> Arguments:
    return heads(draw, 1, 2, 256, channels, channels) | {"window": window, "causal": True}


GRADER = Grader(
    answers=(
        Answer(
            "sliding_window_attention(q, k, v, window, causal=False)",
            oracle=oracle,
            differentiable=("q", "k", "v"),
            tolerance=last_places(8, absolute=8),
            cases=(
                Case("seven_tokens", lambda draw: heads(draw, 2, 3, 7) | {"window": 2}),
                Case("causal", lambda draw: heads(draw, 2, 3, 7) | {"window": 2, "causal": True}, half=True),
                Case(
                    "sizes_of_the_seed",
                    any_size,
                    sizes={"B": (1, 4), "H": (2, 5), "S": (5, 12), "window": (1, 6), "d": (2, 9), "dv": (2, 10)},
                ),
                Case("seams", seams),
                Case("wide_windows", wide_windows),
                Case("whole_sequence", whole_sequence),
                Case("only_itself", lambda draw: both(heads(draw, 2, 2, draw.size(3, 8)), 0), core=False),
                Case("one_of_all", lambda draw: both(heads(draw, 1, 1, 1, 1, 1), 0, 1, 5), core=False),
                Case("zero_scores", zero_scores),
                Case(
                    "no_end", lambda draw: both(heads(draw, 2, 2, draw.size(3, 8)), 10**6, 10**9), category="robustness"
                ),
                attention.large_scores(large_scores, gradients="none"),
                Case("large_scores_in_half", large_scores_in_half, category="robustness", dtypes=HALF),
                Case("shapes_disagree", disagreeing, raises=ValueError),
                Case(
                    "window_below_0",
                    lambda draw: both(heads(draw, 2, 3, 5), -1, -2, -100),
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "long_sequences",
                    sizes={"tokens": (256, 2048), "window": (2, 16)},
                    inputs=long,
                    hints={
                        "tokens": "cut the queries into blocks, and score each against the keys near it",
                        "window": "one @ scores all queries of a block against all keys of its span",
                    },
                ),
                Budget(
                    "many_channels",
                    sizes={"window": (16, 64), "channels": (16, 64)},
                    inputs=wide,
                    asks=("memory",),
                    hints={"channels": "give keys and values to blocks of queries, not to each query"},
                ),
                attention.small_heads(
                    lambda draw, *sizes: heads(draw, *sizes) | {"window": 4},
                    init=None,
                    hints={"heads": "@ multiplies the matrices of all heads", "tokens": "@ does all blocks at once"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def near_gradients(sliding_window_attention, q, k, v, window, causal):
    with torch.inference_mode():
        sliding_window_attention(q, k, v, window, causal)
    k, v = k.requires_grad_(), v.requires_grad_()
    row = sliding_window_attention(q, k, v, window, causal)[:, :, 6]
    return torch.autograd.grad(row.sum(), (k, v))


@pytest.mark.robustness
def test_only_the_window_gets_gradients(submission: Submission, draw: Draw) -> None:
    """Query 6 of 13. No other case has these sizes: none has kept their mask."""
    for causal, last in ((False, 9), (True, 6)):
        made = submission.run(near_gradients, **heads(draw, 2, 3, 13), window=3, causal=causal)
        for name, gradient in zip("kv", made, strict=True):
            outside = torch.cat([gradient[:, :, :3], gradient[:, :, last + 1 :]], 2)
            subject = f"the gradient of query 6's result with respect to rows of {name} outside of its window"
            assert not outside.any(), f"{subject} should be 0"
