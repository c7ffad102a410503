"""What is checked of MultiHeadAttention."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from graders.kata import (
    FULL,
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    attention,
    bans,
    close,
    dtype_name,
)

TOLERANCE = attention.tolerance(4, absolute=14)
heads = attention.heads


def parameters(embed_dim: int, num_heads: int) -> dict[str, tuple[int, ...]]:
    return attention.layers(**dict.fromkeys(("q_linear", "k_linear", "v_linear", "out_linear"), (embed_dim, embed_dim)))


def oracle(
    own: dict[str, Tensor],
    embed_dim: int,
    num_heads: int,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """exp(scores) over the allowed keys, divided by its sum; a row without one is zero."""

    size = embed_dim // num_heads
    q, k, v = (
        torch.stack(attention.linear(own, name, x).chunk(num_heads, dim=-1), dim=1)  # (B, H, S, d)
        for name, x in (("q_linear", query), ("k_linear", key), ("v_linear", value))
    )
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(size)
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else (mask != 0).expand_as(scores)
    top = scores.masked_fill(~allowed, -torch.inf).amax(-1, keepdim=True)
    shares = (scores - top.nan_to_num(neginf=0.0)).masked_fill(~allowed, -torch.inf).exp()
    attn = shares / shares.sum(-1, keepdim=True).clamp_min(1e-300)  # the top score's share is 1
    heads = torch.einsum("bhij,bhjd->bhid", attn, v)
    return attention.linear(own, "out_linear", torch.cat(heads.unbind(1), dim=-1)), attn


def tokens(draw: Draw, B: int, Sq: int, Sk: int, D: int, std: float = 1.0) -> Arguments:
    lengths = {"query": Sq, "key": Sk, "value": Sk}
    return {name: draw.normal(B, length, D, std=std) for name, length in lengths.items()}


def unmasked(B: int, Sq: int, Sk: int, D: int, std: float = 1.0) -> Inputs:
    return lambda draw: tokens(draw, B, Sq, Sk, D, std)


def some_blocked(draw: Draw, *shape: int) -> Tensor:
    """A bool mask with the first key allowed in every row, and about half of the others."""
    mask = draw.uniform(*shape) < 0.5
    mask[..., 0] = True
    return mask


def every_size(draw: Draw) -> list[Arguments]:
    """Batch and lengths from 1 up, each the largest once."""
    sizes = [(1, 1, 1), (1, 1, 5), (4, 3, 1), (3, 4, 7), (2, 7, 3), (5, 2, 3)]
    made = [tokens(draw, B, Sq, Sk, 6) for B, Sq, Sk in sizes]
    return made + [{**tokens(draw, B, Sq, Sk, 6), "mask": some_blocked(draw, B, 1, Sq, Sk)} for B, Sq, Sk in sizes]


def with_and_without_mask(B: int, Sq: int, Sk: int, D: int) -> Inputs:
    def inputs(draw: Draw) -> list[Arguments]:
        made = [tokens(draw, B, Sq, Sk, D) for _ in range(2)]
        return [made[0], {**made[1], "mask": some_blocked(draw, B, 1, Sq, Sk)}]

    return inputs


def any_size(draw: Draw, B: int, Sq: int, Sk: int, H: int, d: int) -> list[Arguments]:
    made = [tokens(draw, B, Sq, Sk, H * d) for _ in range(2)]
    return [made[0], {**made[1], "mask": some_blocked(draw, B, H, Sq, Sk)}]


def of_any_size(H: int, d: int, **others: int) -> dict[str, int]:
    return heads(H * d, H)


SIZES = {"B": (2, 6), "Sq": (2, 8), "Sk": (2, 8), "H": (2, 6), "d": (2, 5)}


def masks_of_every_shape(draw: Draw) -> list[Arguments]:
    """B = 3, H = 2, Sq = 4, Sk = 5: what a mask has in its last axes decides which of them it speaks of."""
    shapes = [(5,), (4, 5), (1, 5), (2, 4, 5), (1, 4, 5), (2, 1, 5)]
    shapes += [(3, 2, 4, 5), (3, 1, 4, 5), (3, 1, 1, 5), (1, 2, 4, 5), (1, 1, 4, 5), (1, 2, 1, 5)]
    made = [{**tokens(draw, 3, 4, 5, 6), "mask": some_blocked(draw, *shape)} for shape in shapes]
    # As many sequences as queries, or as heads: a first axis of that length is still that of the queries, or heads.
    made += [{**tokens(draw, 4, 4, 5, 6), "mask": some_blocked(draw, 4, 5)}]
    made += [{**tokens(draw, 2, 4, 5, 6), "mask": some_blocked(draw, 2, 4, 5)}]
    keys = torch.tensor([True, False, True, True])  # as many queries as keys, and still it speaks of the keys
    return made + [{**tokens(draw, 2, 4, 4, 6), "mask": mask} for mask in (keys, keys[None], keys.expand(2, 1, 4))]


def masks_of_every_kind(draw: Draw) -> list[Arguments]:
    """0 and False block, -0.0 too; everything else allows, be it negative, a fraction, or 0 in its last byte."""
    kinds: list[tuple[torch.dtype, list[float]]] = [(torch.bool, [0, 1]), (torch.int64, [0, 1])]
    kinds += [(torch.int64, [0, 1, 2, -1, 256, 2**32]), (torch.int32, [0, 1, -3]), (torch.uint8, [0, 1, 255])]
    kinds += [(torch.float64, [0, 1]), (torch.float64, [0, 1, 0.5, -1, 2, 1e-9, -0.0])]

    def mask(dtype: torch.dtype, values: list[float]) -> Tensor:
        rows = torch.tensor(values, dtype=torch.float64).repeat(30)[:30]
        made = rows[draw.permutation(30)].reshape(2, 1, 3, 5)
        made[..., 0] = values[-1] or 1
        return made.to(dtype)

    return [{**tokens(draw, 2, 3, 5, 6), "mask": mask(dtype, values)} for dtype, values in kinds]


def blocked_rows(draw: Draw) -> list[Arguments]:
    """Queries with every key blocked: some in some heads, all of one sequence, all there are."""
    some = some_blocked(draw, 2, 3, 4, 5)
    some[0, 1, 2], some[1, 0, 0], some[1, 2] = False, False, False
    one_sequence = torch.tensor([[True] * 5, [False] * 5])[:, None, None]  # (B, 1, 1, Sk)
    queries = torch.tensor([[True], [False], [True], [False]])  # (Sq, 1)
    masks = [some, one_sequence, queries, queries.double(), torch.zeros(4, 5), torch.zeros(1, dtype=torch.int64)]
    made = [{**tokens(draw, 2, 4, 5, 6), "mask": mask} for mask in masks]
    return [*made, {**tokens(draw, 2, 4, 1, 6), "mask": queries}]


def large_scores(draw: Draw) -> list[Arguments]:
    """Scores of a few in the first sequence, of thousands in the second: exp overflows above 709 in float64."""
    scale = torch.tensor([1.0, 60.0], dtype=torch.float64)[:, None, None]
    made = [{name: x * scale for name, x in tokens(draw, 2, 4, 6, 6).items()} for _ in range(2)]
    return [made[0], {**made[1], "mask": some_blocked(draw, 2, 1, 4, 6)}]


def one_allowed_key(draw: Draw, size: float) -> list[Arguments]:
    """Each query's opposite is beside it: the only allowed key often has the smallest score."""
    made = tokens(draw, 2, 3, 6, 6, std=2 * size**0.5)
    made["query"] = torch.cat([made["query"], -made["query"]], dim=1)
    only = draw.integers(2, 2, 6, 1, high=6)
    return [{**made, "mask": torch.arange(6) == only}]


def causal(draw: Draw) -> Arguments:
    return {**tokens(draw, 2, 70, 90, 20), "mask": torch.ones(70, 90).tril(diagonal=20)}


def half_with_blocked_row(draw: Draw) -> list[Arguments]:
    mask = some_blocked(draw, 2, 1, 4, 5)
    mask[0, 0, 2] = False
    return [{**tokens(draw, 2, 4, 5, 8, std=0.5), "mask": one} for one in (mask, mask.double(), mask.long())]


def self_attended(draw: Draw, B: int, H: int, S: int, d: int) -> Arguments:
    x = draw.normal(B, S, H * d)
    return {"query": x, "key": x.flip(1), "value": x.roll(1, 1), "mask": torch.ones(S, S).tril()}


GRADER = Grader(
    answers=(
        Answer(
            "MultiHeadAttention(embed_dim, num_heads)",
            forward="forward(query, key, value, mask=None)",
            oracle=oracle,
            parameters=parameters,
            differentiable=("query", "key", "value"),
            tolerance=TOLERANCE,
            budgets=(
                replace(
                    attention.small_heads(self_attended, operators=5),  # a tuple of tensors for the heads is welcome
                    sizes=dict.fromkeys(attention.LOOPS, (4, 24)),
                ),
                replace(
                    attention.long_sequences(self_attended, asks=("memory", "time")),
                    sizes={"heads": (1, 4), "tokens": (64, 256), "channels": (8, 32)},
                ),
            ),
            cases=(
                Case("four_heads", unmasked(2, 5, 5, 8, std=0.5), init=heads(8, 4)),
                Case("every_size", every_size, init=heads(6, 2)),
                Case("any_size", any_size, init=of_any_size, sizes=SIZES),
                Case("one_head", with_and_without_mask(2, 3, 4, 5), init=heads(5, 1)),
                Case("heads_of_one_channel", with_and_without_mask(2, 3, 4, 5), init=heads(5, 5)),
                Case("masks_of_every_shape", masks_of_every_shape, init=heads(6, 2)),
                Case("masks_of_every_kind", masks_of_every_kind, init=heads(6, 3), core=False),
                Case("causal", causal, init=heads(20, 4)),
                Case("blocked_rows", blocked_rows, init=heads(6, 3), category="robustness"),
                Case("large_scores", large_scores, init=heads(6, 2), category="robustness", **attention.FAR),
                attention.large_scores(
                    one_allowed_key, "one_allowed_key", init=heads(6, 2), dtypes=FULL, tolerance=TOLERANCE
                ),
                Case("mask_in_half", half_with_blocked_row, init=heads(8, 4), category="robustness", dtypes=HALF),
                Case("heads_do_not_divide", None, init=heads(10, 4), raises=ValueError),
                Case("more_heads_than_channels", None, init=heads(4, 8), raises=ValueError),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def own_parameters(draw: Draw, embed_dim: int, num_heads: int) -> dict[str, Tensor]:
    return {name: draw.normal(*shape, std=0.5) for name, shape in parameters(embed_dim, num_heads).items()}


def test_permuting_the_keys_changes_no_output(submission: Submission, draw: Draw) -> None:
    own, made, order = own_parameters(draw, 6, 3), tokens(draw, 2, 4, 5, 6), draw.permutation(5)
    mask = some_blocked(draw, 2, 1, 4, 5)
    moved = {**made, "key": made["key"][:, order], "value": made["value"][:, order], "mask": mask[..., order]}
    output, attn = submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **made, mask=mask)
    moved_output, moved_attn = submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **moved)
    close("output after permuting keys and values", moved_output, output, TOLERANCES[torch.float64])
    close("attn after permuting keys and values", moved_attn, attn[..., order], TOLERANCES[torch.float64])


def test_blocked_keys_do_not_matter(submission: Submission, draw: Draw) -> None:
    """As if they were not there; and a score of exactly 0, which the first query has with every key, blocks none."""
    own, made = own_parameters(draw, 6, 3), tokens(draw, 2, 4, 5, 6)
    own["q_linear.bias"], made["query"][:, 0] = torch.zeros(6), 0
    mask = torch.tensor([True, True, False, True, False])
    left = made | {name: made[name][:, mask] for name in ("key", "value")}
    changed = made | {name: made[name] + 50 * ~mask[:, None] for name in ("key", "value")}
    output, attn = submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **left)
    after, attn_after = submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **changed, mask=mask)
    close("output where some keys are blocked", after, output, TOLERANCES[torch.float64])
    close("attn of the keys that are not blocked", attn_after[..., mask], attn, TOLERANCES[torch.float64])


@pytest.mark.robustness
def test_nothing_to_see_gives_the_bias(submission: Submission, draw: Draw) -> None:
    """In every dtype, a query with every key blocked has zero attention and out_linear's bias for its output.

    All scores are below −16: the least float16 added to that is −∞.
    """
    made, mask = tokens(draw, 2, 3, 5, 6), torch.zeros(3, 5, dtype=torch.bool)
    for dtype, tolerance in TOLERANCES.items():
        own = {name: value.to(dtype) for name, value in own_parameters(draw, 6, 3).items()}
        own["q_linear.bias"][:], own["k_linear.bias"][:] = 20, -20
        inputs = {name: x.to(dtype) for name, x in made.items()}
        output, attn = submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **inputs, mask=mask)
        close("attn where every key is blocked", attn, torch.zeros(2, 3, 3, 5), tolerance)
        close("output where every key is blocked", output, own["out_linear.bias"].expand(2, 3, 6), tolerance)


@pytest.mark.robustness
def test_mask_of_another_dtype(submission: Submission, draw: Draw) -> None:
    """A mask in float64 beside float32, and in float32 beside the others, leaves the dtype of the results alone.

    Its values allow a key like True, although the dtype of the others may hold them only as 0.
    """
    made, mask = tokens(draw, 2, 3, 5, 6), some_blocked(draw, 2, 3, 3, 5)
    for dtype in TOLERANCES:
        own = {name: value.to(dtype) for name, value in own_parameters(draw, 6, 3).items()}
        inputs = {name: x.to(dtype) for name, x in made.items()}
        other = mask.double() * 1e-50 if dtype == torch.float32 else mask.float() * 1e-10
        results, wanted = (
            submission.call("MultiHeadAttention", init=heads(6, 3), parameters=own, **inputs, mask=one)
            for one in (other, mask)
        )
        for name, result, right in zip(("output", "attn"), results, wanted, strict=True):
            assert result.dtype == dtype, f"{name} with a {other.dtype} mask: should be {dtype}, got {result.dtype}"
            close(f"{name} with a {other.dtype} mask of {other.max():.0e}", result, right, TOLERANCES[dtype])


@pytest.mark.robustness
def test_far_scores_in_half(submission: Submission, draw: Draw) -> None:
    """Whole numbers, so that scores are exact: of each query, all are about ±924 and ±462, or 0."""
    own = own_parameters(draw, 6, 2)
    own |= {f"{name}_linear.weight": torch.eye(6).double() for name in "qk"}
    own |= {f"{name}_linear.bias": torch.zeros(6).double() for name in "qk"}
    axes = 40.0 * torch.eye(3).double().repeat(1, 2)  # of both heads
    keys = torch.cat([axes, axes.sum(0, keepdim=True) / 2])
    query = torch.cat([axes, -axes.sum(0, keepdim=True)])[draw.permutation(4)]
    given = {"query": query[None], "key": keys[draw.permutation(4)][None], "value": draw.normal(1, 4, 6)}
    for dtype in HALF:
        rounded = {name: value.to(dtype) for name, value in own.items()}
        inputs = {name: value.to(dtype) for name, value in given.items()}
        got = submission.call("MultiHeadAttention", init=heads(6, 2), parameters=rounded, **inputs)
        exact = ({name: value.double() for name, value in one.items()} for one in (rounded, inputs))
        expected = oracle(next(exact), **heads(6, 2), **next(exact))
        for name, one, wanted in zip(("output", "attn"), got, expected, strict=True):
            close(f"values of {name} ({dtype_name(dtype)})", one, wanted, TOLERANCE[dtype])
