"""What is checked of SelfAttention."""

import math

import pytest
import torch
from torch import Tensor

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    attention,
    bans,
    close,
    dtype_name,
)


def parameters(embed_dim: int) -> dict[str, tuple[int, ...]]:
    return attention.layers(**dict.fromkeys(("W_q", "W_k", "W_v"), (embed_dim, embed_dim)))


def oracle(own: dict[str, Tensor], embed_dim: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """softmax_j(q_i · k_j / √D), written out with einsum."""
    q, k, v = (attention.linear(own, name, x) for name in ("W_q", "W_k", "W_v"))
    scores = torch.einsum("bid,bjd->bij", q, k) / math.sqrt(embed_dim)
    shares = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = shares / shares.sum(-1, keepdim=True)
    return torch.einsum("bij,bjd->bid", weights, v), weights


def tokens(*shape: int, std: float = 1.0) -> Inputs:
    return lambda draw: {"x": draw.normal(*shape, std=std)}


def every_size(draw: Draw) -> list[Arguments]:
    """Batch and length from 1 up, either the larger one, and a length equal to the width."""
    sizes = [(1, 1), (1, 7), (4, 1), (3, 2), (7, 3), (2, 6), (6, 6)]
    return [{"x": draw.normal(batch, length, 6)} for batch, length in sizes]


def repeated_tokens(draw: Draw) -> list[Arguments]:
    """Tokens that are all alike share the attention evenly. Those of zeros count like others: they are no padding."""
    x = draw.normal(2, 5, 6)
    some_zeros = x * torch.tensor([1, 0, 1, 0, 0])[:, None]
    made = [x[:, :1].repeat(1, 5, 1), x[:, [0, 0, 1, 1, 1]], torch.zeros(2, 5, 6), some_zeros]
    return [{"x": one} for one in made]


def large_scores(draw: Draw) -> list[Arguments]:
    """Scores of a few, of tens, and of thousands: exp overflows above 709 in float64. Then each token comes twice, half
    as long: what rounding does to equal shares grows with the scores. Then there are two tokens, and one; and last,
    scores of a million."""
    x = draw.normal(3, 6, 7) * torch.tensor([1.0, 6.0, 60.0])[:, None, None]
    far = 1000 * draw.normal(2, 6, 7)  # most rows have several beyond float16's 65,504
    return [{"x": one} for one in (x, x[:, :3].repeat(1, 2, 1) / 2, x[:, :2], x[:, 2:3], far)]


GRADER = Grader(
    answers=(
        Answer(
            "SelfAttention(embed_dim)",
            forward="forward(x)",
            oracle=oracle,
            parameters=parameters,
            differentiable=("x",),
            tolerance=attention.tolerance(4, absolute=6),
            budgets=(
                Budget(
                    "many_short_sequences",
                    sizes={"batch": (8, 64), "tokens": (8, 64)},
                    inputs=lambda draw, batch, tokens: {"x": draw.normal(batch, tokens, 16)},
                    init=lambda **sizes: {"embed_dim": 16},
                    asks=("loops", "memory"),
                    hints=attention.LOOPS,
                ),
                Budget(
                    "eight_long_sequences",
                    sizes={"batch": (2, 8), "tokens": (64, 384), "features": (32, 128)},
                    inputs=lambda draw, batch, tokens, features: {"x": draw.normal(batch, tokens, features)},
                    init=lambda features, **sizes: {"embed_dim": features},
                    asks=("memory", "time"),
                ),
            ),
            cases=(
                Case("two_sequences", tokens(2, 5, 8, std=0.5), init={"embed_dim": 8}),
                Case("every_size", every_size, init={"embed_dim": 6}),
                Case(
                    "any_size",
                    lambda draw, batch, length, width: {"x": draw.normal(batch, length, width)},
                    init=lambda width, **_: {"embed_dim": width},
                    sizes={"batch": (2, 9), "length": (2, 9), "width": (2, 9)},
                ),
                Case("one_channel", tokens(3, 4, 1), init={"embed_dim": 1}),
                Case("repeated_tokens", repeated_tokens, init={"embed_dim": 6}),
                Case("long_sequences", tokens(2, 130, 20), init={"embed_dim": 20}),
                Case(
                    "large_scores",
                    large_scores,
                    init={"embed_dim": 7},
                    category="robustness",
                    dtypes=(torch.float64,),  # rounding moves such scores too far in float32
                    tolerance={torch.float64: Tolerance(1e-6, 1e-7, 1e-8)},  # and in float64 by 1e-12, not 1e-16
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def own_parameters(draw: Draw, embed_dim: int) -> dict[str, Tensor]:
    return {name: draw.normal(*shape, std=0.5) for name, shape in parameters(embed_dim).items()}


def test_permuting_the_tokens_permutes_the_result(submission: Submission, draw: Draw) -> None:
    x, order, own = draw.normal(2, 7, 6), draw.permutation(7), own_parameters(draw, 6)
    out, weights = submission.call("SelfAttention", init={"embed_dim": 6}, parameters=own, x=x)
    moved, moved_weights = submission.call("SelfAttention", init={"embed_dim": 6}, parameters=own, x=x[:, order])
    close("out of permuted tokens", moved, out[:, order], TOLERANCES[torch.float64])
    close("weights of permuted tokens", moved_weights, weights[:, order][:, :, order], TOLERANCES[torch.float64])


def test_linear_in_the_values(submission: Submission, draw: Draw) -> None:
    """Scaling W_v scales the output and leaves the weights alone."""
    x, own = draw.normal(2, 5, 6), own_parameters(draw, 6)
    scaled = own | {name: -30 * own[name] for name in ("W_v.weight", "W_v.bias")}
    out, weights = submission.call("SelfAttention", init={"embed_dim": 6}, parameters=own, x=x)
    scaled_out, scaled_weights = submission.call("SelfAttention", init={"embed_dim": 6}, parameters=scaled, x=x)
    close("out after scaling W_v by -30", scaled_out, -30 * out, TOLERANCES[torch.float64])
    close("weights after scaling W_v by -30", scaled_weights, weights, TOLERANCES[torch.float64])


@pytest.mark.robustness
def test_scores_fit_float16_once_scaled(submission: Submission, draw: Draw) -> None:
    """Each query meets two keys, with products from 90 000: beyond the 65 504 of float16, but not divided by √16."""
    for dtype in HALF:
        axes = torch.linalg.qr(draw.normal(16, 16)).Q
        next_axis = axes.roll(-1, 0).T @ axes  # turns each axis into the next one
        own = own_parameters(draw, 16)
        own |= {"W_q.weight": axes, "W_k.weight": axes @ next_axis}
        own |= dict.fromkeys(("W_q.bias", "W_k.bias"), torch.zeros(16))
        own = {name: value.to(dtype) for name, value in own.items()}
        lengths = torch.tensor([400.0, 300.0]).repeat_interleave(16)[:, None]
        x = torch.stack([(lengths * axes.repeat(2, 1))[draw.permutation(32)] for _ in range(2)]).to(dtype)
        got = submission.call("SelfAttention", init={"embed_dim": 16}, parameters=own, x=x)
        expected = oracle({name: value.double() for name, value in own.items()}, 16, x.double())
        for name, one, wanted in zip(("out", "weights"), got, expected, strict=True):
            close(f"values of {name} ({dtype_name(dtype)})", one, wanted, TOLERANCES[dtype])
