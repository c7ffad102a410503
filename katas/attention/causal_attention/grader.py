"""What is checked of causal_attention."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Case, Draw, Grader, Inputs, Submission, attention, bans, last_places

LEFT = [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]  # padding before the tokens: query 0 of the first sample sees nothing


def oracle(q: Tensor, k: Tensor, v: Tensor, key_mask: Tensor | None = None) -> Tensor:
    Sq, Sk = q.shape[2], k.shape[2]
    seen = torch.arange(Sk) <= torch.arange(Sq)[:, None] + Sk - Sq
    if key_mask is not None:
        seen = seen & key_mask[:, None, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def heads(draw: Draw, B: int, H: int, Sq: int, Sk: int, d: int = 4, dv: int = 4, std: float = 1.0) -> Arguments:
    return {
        "q": draw.normal(B, H, Sq, d, std=std),
        "k": draw.normal(B, H, Sk, d, std=std),
        "v": draw.normal(B, H, Sk, dv),
    }


def of(*sizes: int) -> Inputs:
    return lambda draw: heads(draw, *sizes)


def padded(draw: Draw, mask: list[list[int]], H: int, Sq: int, std: float = 1.0) -> Arguments:
    key_mask = torch.tensor(mask).bool()
    return {**heads(draw, len(key_mask), H, Sq, key_mask.shape[1], dv=3, std=std), "key_mask": key_mask}


def fewer_queries(draw: Draw) -> list[Arguments]:
    """The last of them after 1,100 keys, beyond a mask of 1,024."""
    made = [heads(draw, 2, 3, *sizes) for sizes in ((3, 7, 5, 2), (1, 6, 5, 2), (5, 6, 3, 8))]
    return [*made, heads(draw, 1, 1, 2, 1100, 2, 2)]


def right_padding(draw: Draw) -> list[Arguments]:
    """As many samples as heads, and fewer; padded queries see real keys."""
    mask = [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]
    return [padded(draw, mask, H, Sq) for H, Sq in ((3, 5), (2, 5), (2, 3))]


def gaps(draw: Draw) -> list[Arguments]:
    """Padding anywhere, where every query still sees the first key; none after some, which a kept mask would have."""
    made = [padded(draw, [[1, 0, 1, 0, 1, 1], [1, 1, 0, 1, 0, 0]], 2, Sq) for Sq in (6, 4, 1)]
    return [*made, *(padded(draw, [mask], 3, 2) for mask in ([1, 0, 1, 0], [1, 1, 1, 1]))]


def zero_scores(draw: Draw) -> Arguments:
    """Query 1 scores 0 with every key, query 3 with key 2."""
    made = padded(draw, [[1, 1, 1, 1, 1], [1, 1, 0, 1, 1]], 2, 5)
    made["q"][:, :, 1], made["q"][:, :, 3, :2], made["k"][:, :, 2, 2:] = 0, 0, 0
    return made


def empty_rows(draw: Draw) -> list[Arguments]:
    """The first queries of a sample, all of them, and all that there are."""
    made = [padded(draw, LEFT, 2, Sq) for Sq in (5, 4)]
    return [*made, padded(draw, [[0, 0, 0], [1, 0, 1]], 2, 2), padded(draw, [[0]], 1, 1)]


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """The only score that query 0 sees is far below all constants."""
    mask, std = [[1, 0, 1, 1, 1], [1, 1, 1, 0, 0]], size**0.5
    made = [heads(draw, 2, 2, 5, 5, std=std), padded(draw, mask, 2, 5, std=std)]
    for one in made:
        one["q"][:, :, 0] = -one["k"][:, :, 0]
        one["q"][:, :, 2] = -one["k"][:, :, 2]
    low = heads(draw, 2, 2, 3, 4, std=std)  # the last query sees all keys, and no score is high
    return [*made, low | {"q": -low["q"].abs(), "k": low["k"].abs()}]


def large_scores_in_half(draw: Draw) -> Arguments:
    """Whole numbers make the scores exact. q kᵀ reaches 311 000 and overflows float16; divided by √64 it does not.

    Later keys have higher scores, by more than a constant that is added to hide them would take away.
    """
    a, c = 64 - draw.integers(2, 2, 5, 1, high=8), 20 * torch.arange(7) - 44
    k = c[:, None].double().expand(2, 2, 7, 64)
    return {"q": a.double().expand(2, 2, 5, 64), "k": k, "v": draw.normal(2, 2, 7, 3)}


def padding_in_half(draw: Draw) -> list[Arguments]:
    return [padded(draw, LEFT, 2, Sq) for Sq in (5, 3)]


def low_scores_in_half(draw: Draw) -> Arguments:
    """Scores are whole numbers of −46 to −34: the least float16 added to them is −∞, and a row of that alone NaN."""
    made = padded(draw, LEFT, 2, 5)
    for name, first, step in (("q", -80, 2), ("k", 1, 1)):
        made[name] = step * (draw.integers(2, 2, 5, 4, high=3) - 1).double()
        made[name][..., 0] = first
    return made


def disagreeing(draw: Draw) -> list[Arguments]:
    return attention.disagreeing(draw, heads(draw, 2, 3, 4, 5))


def masks_of_other_shapes(draw: Draw) -> list[Arguments]:
    shapes = [(1, 5), (2, 1), (2, 4), (2, 6), (5,), (3, 5), (2, 1, 1, 5), (2, 1, 5)]
    return [heads(draw, 2, 3, 4, 5) | {"key_mask": torch.ones(shape).bool()} for shape in shapes]


def long(draw: Draw, B: int, H: int, S: int, d: int) -> Arguments:
    """Every query sees the first key: what an empty row gives is no matter of cost."""
    key_mask = draw.uniform(B, S) < 0.9
    key_mask[:, 0] = True
    return {**heads(draw, B, H, S, S, d, d), "key_mask": key_mask}


GRADER = Grader(
    answers=(
        Answer(
            "causal_attention(q, k, v, key_mask=None)",
            oracle=oracle,
            differentiable=("q", "k", "v"),
            tolerance=last_places(8, absolute=8),
            cases=(
                Case("five_tokens", of(2, 3, 5, 5)),
                Case("fewer_queries", fewer_queries),
                Case(
                    "sizes_of_the_seed",
                    lambda draw, B, H, Sq, more, d, dv: heads(draw, B, H, Sq, Sq + more, d, dv),
                    sizes={"B": (2, 5), "H": (2, 6), "Sq": (2, 7), "more": (1, 8), "d": (2, 9), "dv": (2, 10)},
                ),
                Case("one_of_all", of(1, 1, 1, 1, 1, 1)),
                Case("right_padding", right_padding),
                Case("gaps", gaps),
                Case("zero_scores", zero_scores),
                Case("empty_rows", empty_rows, category="robustness"),
                attention.large_scores(large_scores, gradients="none"),
                Case("large_scores_in_half", large_scores_in_half, category="robustness", dtypes=HALF),
                Case("padding_in_half", padding_in_half, category="robustness", dtypes=HALF),
                Case(
                    "low_scores_in_half",
                    low_scores_in_half,
                    category="robustness",
                    dtypes=HALF,
                    gradients="finite",
                    tolerance=last_places(32),  # a logarithm of a sum near −40 is rounded by up to 1/8
                ),
                Case(
                    "more_queries_than_keys",
                    lambda draw: [*(heads(draw, 2, 3, *S) for S in ((5, 4), (2, 1))), padded(draw, [[1, 1]], 3, 3)],
                    raises=ValueError,
                ),
                Case("shapes_disagree", disagreeing, raises=ValueError),
                Case("mask_of_another_shape", masks_of_other_shapes, raises=ValueError),
            ),
            budgets=(
                attention.small_heads(
                    long, init=None, hints={**attention.LOOPS, "heads": "@ multiplies the matrices of all heads"}
                ),
                attention.long_sequences(long, init=None),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def later_gradients(causal_attention, q, k, v):
    with torch.inference_mode():
        causal_attention(q, k, v)
    k, v = k.requires_grad_(), v.requires_grad_()
    first = causal_attention(q, k, v)[:, :, 0]
    return torch.autograd.grad(first.sum(), (k, v))


@pytest.mark.robustness
def test_later_keys_get_no_gradient(submission: Submission, draw: Draw) -> None:
    """Of eight keys, the first of three queries sees six. No other case has these sizes: none has kept their mask."""
    for name, gradient in zip("kv", submission.run(later_gradients, **heads(draw, 2, 3, 3, 8)), strict=True):
        later = f"the gradient of query 0's result with respect to later rows of {name}"
        assert not gradient[:, :, 6:].any(), f"{later} should be 0"
