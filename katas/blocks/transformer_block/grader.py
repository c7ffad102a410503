"""What is checked of TransformerBlock."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Case, Draw, Grader, Inputs, Submission, Tolerance, attention, close

heads = attention.heads


def parameters(embed_dim: int, num_heads: int) -> dict[str, tuple[int, ...]]:
    D = embed_dim
    linears = dict.fromkeys(("q_linear", "k_linear", "v_linear", "out_linear"), (D, D))
    return attention.layers(**linears, fc1=(4 * D, D), fc2=(D, 4 * D), ln1=(D,), ln2=(D,))


def oracle(own: dict[str, Tensor], embed_dim: int, num_heads: int, x: Tensor) -> Tensor:
    linear = partial(attention.linear, own)

    def normed(name: str, of: Tensor) -> Tensor:
        centred = of - of.mean(-1, keepdim=True)
        unit = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return unit * own[f"{name}.weight"] + own[f"{name}.bias"]

    tokens = normed("ln1", x)
    q, k, v = (linear(f"{name}_linear", tokens).unflatten(2, (num_heads, -1)) for name in "qkv")
    at = torch.arange(x.shape[1])
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(embed_dim / num_heads)
    weights = torch.where(at <= at[:, None], scores, -torch.inf).softmax(-1)
    x = x + linear("out_linear", torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2))
    h = linear("fc1", normed("ln2", x))
    return x + linear("fc2", h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3))))


def tokens(*sizes: tuple[int, int], D: int, std: float = 1.0, mean: float = 0.0) -> Inputs:
    return lambda draw: [{"x": draw.normal(B, S, D, std=std, mean=mean)} for B, S in sizes]


def any_size(draw: Draw, B: int, S: int, H: int, d: int) -> Arguments:
    return {"x": draw.normal(B, S, H * d)}


def of_any_size(H: int, d: int, **others: int) -> dict[str, int]:
    return heads(H * d, H)


SIZES = {"B": (2, 6), "S": (2, 9), "H": (2, 6), "d": (2, 5)}


def large(draw: Draw, B: int, H: int, S: int, d: int) -> Arguments:
    return {"x": draw.normal(B, S, H * d)}


GRADER = Grader(
    answers=(
        Answer(
            "TransformerBlock(embed_dim, num_heads)",
            forward="forward(x)",
            oracle=oracle,
            parameters=parameters,
            differentiable=("x",),
            tolerance=attention.tolerance(8, absolute=24, relative=3e-5),
            budgets=(attention.small_heads(large), attention.long_sequences(large, channels=(4, 16))),
            cases=(
                Case("three_heads", lambda draw: {"x": draw.normal(2, 5, 12)}, init=heads(12, 3)),
                Case("every_size", tokens((1, 1), (1, 6), (4, 1), (3, 4), (2, 7), D=6), init=heads(6, 2)),
                Case("any_size", any_size, init=of_any_size, sizes=SIZES),
                Case("one_head", tokens((2, 4), D=5), init=heads(5, 1)),
                Case("heads_of_one_channel", tokens((2, 4), D=5), init=heads(5, 5)),
                Case("far_from_0", tokens((2, 5), D=8, std=4.0, mean=3.0), init=heads(8, 2)),
                Case(
                    "small_variance",
                    tokens((2, 5), D=8, std=2e-3, mean=0.4),
                    init=heads(8, 2),
                    category="robustness",
                    # In float32, 0.4 is rounded by 1.5e-8, that is 7e-6 of what x differs by.
                    tolerance={torch.float32: Tolerance(1e-4, 5e-5, 5e-5)},
                ),
                Case("heads_do_not_divide", None, init=heads(10, 4), raises=ValueError),
                Case("more_heads_than_channels", None, init=heads(4, 8), raises=ValueError),
            ),
        ),
    ),
    # F.scaled_dot_product_attention is allowed, and what runs below it.
    banned=(
        *("multi_head_attention", "native_multi_head_attention", "triton_multi_head_attention"),
        *("transformer_encoder_layer", "forward_impl"),
    ),
)


def lengths_in_turn(TransformerBlock, x, **own):
    block = TransformerBlock(4, 2).to(x)
    block.load_state_dict(own, strict=False)
    with torch.no_grad():
        return [block(x[:, :length]) for length in (3, 1100, 2)]


def after_others(TransformerBlock, x, **own):
    block = TransformerBlock(4, 2).to(x)
    block.load_state_dict(own, strict=False)
    with torch.inference_mode():
        first = block(x)
    TransformerBlock(4, 4)
    return [first, block(x)]


@pytest.mark.robustness
def test_lengths_in_turn(submission: Submission, draw: Draw) -> None:
    """Nothing else has 9 tokens: a mask kept for them is made under inference mode."""
    own = {name: draw.normal(*shape) for name, shape in parameters(4, 2).items()}
    x = draw.normal(1, 1100, 4)
    right = oracle(own, **heads(4, 2), x=x)
    for scenario, lengths in ((lengths_in_turn, (3, 1100, 2)), (after_others, (9, 9))):
        wanted = [right[:, :length] for length in lengths]
        attention.same_in_turn(submission, scenario, wanted, x=x[:, : max(lengths)], **own)


@pytest.mark.robustness
def test_large_scores(submission: Submission, draw: Draw) -> None:
    """Scores beyond exp, and below each constant that hides; then of 0. What g gets: up to ±100."""
    own = {name: draw.normal(*shape, std=0.5) for name, shape in parameters(24, 8).items()}
    own["q_linear.bias"] *= 0
    x = draw.normal(4, 5, 24)
    for what, name, factor in (
        *((f"scores of ±{size:,.0f}".replace(",", " "), "q_linear.weight", 0.3 * size) for size in attention.BEYOND),
        ("scores of 0", "q_linear.weight", 0),
        ("fc1 giving up to ±100", "fc1.weight", 15),
    ):
        large = own | {name: factor * own[name]}
        got = submission.call("TransformerBlock", init=heads(24, 8), parameters=large, x=x)
        close(f"values with {what}", got, oracle(large, 24, 8, x), Tolerance(1e-7, 1e-8, 1e-9))
