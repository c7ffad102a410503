"""Rotary position embedding by hand. Statement: katas/attention/rotary_embedding/README.md."""

import torch
from torch import Tensor


def rotary_embedding(
    x: Tensor, positions: Tensor | None = None, base: float = 10000.0, interleaved: bool = False
) -> Tensor:
    """(a, b) → (a cos φ − b sin φ, a sin φ + b cos φ) for pair i of the channels, with φ = position · base^(−2i/d)

    Args:
        x: (…, S, d), S tokens of d channels.
        positions: of the tokens, integers that broadcast to (…, S); None: 0 … S − 1.
        base: of the frequencies, above 1.
        interleaved: pair i is the channels 2i and 2i + 1; if False, i and i + d/2.
    Returns: the shape and dtype of x.
    Raises: ValueError if d is odd, or if positions do not broadcast to (…, S).
    Source: arXiv:2104.09864, eq. 34, which is interleaved.
    """
    # TODO: refuse an odd d, and positions that do not broadcast to all axes of x but the last.
    # TODO: one frequency for each pair, then the angle of each token and pair. Which dtype do they need?
    # TODO: split the channels into pairs (a, b), and rotate each.
    # TODO: put the channels back where they were.
    raise NotImplementedError
