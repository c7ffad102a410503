"""Beam search by hand. Statement: katas/decoding/beam_search/README.md."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    log_probs: Callable[[Tensor], Tensor],
    start: int,
    eos: int,
    beam_width: int = 4,
    max_len: int = 20,
    length_penalty: float = 0.0,
) -> list[tuple[list[int], float]]:
    """score(y) = Σ_t log p(y_t | start, y_1 … y_{t−1}) / n^α  of the tokens y_1 … y_n after start

    Args:
        log_probs: (n, t) int64 tokens -> (n, V) log-probabilities of the token that comes next in each row.
        start: the first token of every hypothesis.
        eos: the token that finishes a hypothesis.
        beam_width: how many hypotheses are kept, at least 1.
        max_len: how many tokens are added at most, at least 1.
        length_penalty: α, at least 0.
    Returns: (tokens, score) of the hypotheses that are kept, the best first.
    Raises: ValueError if beam_width or max_len is below 1.
    Source: Hugging Face's generate has the same scores, where α is length_penalty.
    """
    # TODO: refuse what is below 1.
    # TODO: begin with one hypothesis that has a sum of 0 and is not finished.
    # TODO: extend all that are unfinished, after one call for all of them.
    # TODO: let finished ones compete with what was extended, and keep the best by score.
    # TODO: when are you done?
    raise NotImplementedError
