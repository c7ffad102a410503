"""What the katas of attention share: layers by their names, the rounding of a bias, budgets of heads and tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from graders.kata.compare import close
from graders.kata.draw import Draw
from graders.kata.spec import Arguments, Budget, Case, Submission
from graders.kata.tolerances import TOLERANCES, Tolerance, last_places

Calls = Callable[[Draw, int, int, int, int], Arguments]  # of batch, heads, tokens and channels of a head
Init = Callable[[int, int], dict[str, int]] | None  # of embed_dim and num_heads; None where nothing is constructed
BEYOND = (1e5, 1e12)  # of scores: people hide by −1e4 and by −1e9
# Rounding moves such scores too far in float32; in float64 by 1e-11, not 1e-16, and far apart as they are beyond that.
FAR: dict[str, Any] = {"dtypes": (torch.float64,), "tolerance": {torch.float64: Tolerance(1e-7, 1e-8, 1e-9)}}
LOOPS = {
    "batch": "@ multiplies all matrices of a batch",
    "heads": "give the heads an axis of their own, before the last two: @ then does all heads",
    "tokens": "one @ scores all pairs of a query and a key",
}


def tolerance(units: float, absolute: float, relative: float = 1e-5) -> Mapping[torch.dtype, Tolerance]:
    """Wider than the usual in `absolute`.

    The gradient of the keys' bias is 0 by nature, and what comes back for it is the rounding error of a sum over all
    tokens.
    """
    return {torch.float32: Tolerance(relative, 1e-5, 5e-5), **last_places(units, absolute)}


def layers(**weights: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The shapes of a module's parameters, from its layers' weights: each has a bias, as long as the first axis."""
    shapes = {f"{name}.weight": shape for name, shape in weights.items()}
    return shapes | {f"{name}.bias": shape[:1] for name, shape in weights.items()}


def linear(own: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    return torch.einsum("bsd,ed->bse", x, own[f"{name}.weight"]) + own[f"{name}.bias"]


def heads(embed_dim: int, num_heads: int) -> dict[str, int]:
    return {"embed_dim": embed_dim, "num_heads": num_heads}


def disagreeing(draw: Draw, usual: Arguments) -> list[Arguments]:
    """Of usual arguments with q of (2, 3, 4, 4), k of (2, 3, 5, 4) and v of (2, 3, 5, …).

    Each pair of axes that should be equal is not, and one of the two often is 1; in the last, B · H is equal.
    """
    changes: list[dict[str, tuple[int, ...]]] = [
        {"q": (1, 3, 4, 4)},
        {"q": (2, 1, 4, 4)},
        {"q": (2, 3, 4, 1)},
        {"k": (1, 3, 5, 4)},
        {"k": (2, 1, 5, 4)},
        {"k": (2, 3, 5, 1)},
        {"k": (2, 3, 5, 3)},
        {"v": (1, 3, 5, 4)},
        {"v": (2, 1, 5, 4)},
        {"v": (2, 3, 1, 4)},
        {"v": (2, 3, 6, 4)},
        {"k": (1, 3, 5, 4), "v": (1, 3, 5, 4)},
        {"k": (2, 1, 5, 4), "v": (2, 1, 5, 4)},
        {"k": (3, 2, 5, 4), "v": (3, 2, 5, 4)},
    ]
    return [usual | {name: draw.normal(*size) for name, size in one.items()} for one in changes]


def large_scores(inputs: Callable[[Draw, float], list[Arguments]], name: str = "large_scores", **more: Any) -> Case:
    """Every kata that hides scores has this case: scores of both signs, of about each size in BEYOND.

    `inputs` get a draw and the size. Some query sees nothing but scores below minus a tenth of the size: what hides by
    a constant above that, filled or added, shows there. (−∞ and the dtype's least number are right.)
    """
    made = lambda draw: [one for size in BEYOND for one in inputs(draw, size)]  # noqa: E731
    return Case(name, made, category="robustness", **FAR | more)


def small_heads(inputs: Calls, init: Init = heads, hints: Mapping[str, str] = LOOPS, **more: Any) -> Budget:
    """Against loops over sequences, heads or tokens."""
    return Budget(
        "many_small_heads",
        sizes={"batch": (4, 32), "heads": (4, 32), "tokens": (4, 32)},
        inputs=lambda draw, batch, heads, tokens: inputs(draw, batch, heads, tokens, 2),
        init=lambda heads, **sizes: init(2 * heads, heads) if init else {},
        asks=("loops",),
        hints=hints,
        **more,
    )


def long_sequences(
    inputs: Calls, init: Init = heads, channels: tuple[int, int] = (8, 32), name: str = "long_sequences", **more: Any
) -> Budget:
    """Against tables of all products."""
    return Budget(
        name,
        sizes={"heads": (2, 8), "tokens": (64, 256), "channels": channels},
        inputs=lambda draw, heads, tokens, channels: inputs(draw, 1, heads, tokens, channels),
        init=lambda heads, channels, **sizes: init(heads * channels, heads) if init else {},
        hints={"channels": "@ itself sums over the channels of a head"},
        **{"asks": ("memory",)} | more,
    )


def same_in_turn(submission: Submission, scenario: Callable[..., Any], right: list[Tensor], **inputs: Any) -> None:
    """Of calls with more or fewer of the same tokens, where a token sees earlier ones alone. Raises: CheckFailed."""
    for one, wanted in zip(submission.run(scenario, like=right, **inputs), right, strict=True):
        close(f"the result for {wanted.shape[1]} tokens", one, wanted, TOLERANCES[torch.float64])
