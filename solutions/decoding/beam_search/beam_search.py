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
    # --- solution
    # TODO: refuse what is below 1.
    # TODO: begin with one hypothesis that has a sum of 0 and is not finished.
    # TODO: extend all that are unfinished, after one call for all of them.
    # TODO: let finished ones compete with what was extended, and keep the best by score.
    # TODO: when are you done?
    if beam_width < 1:
        raise ValueError(f"beam_width should be at least 1, got {beam_width}")
    if max_len < 1:
        raise ValueError(f"max_len should be at least 1, got {max_len}")

    def score(hypothesis: tuple[list[int], float, bool]) -> float:
        tokens, total, _ = hypothesis
        return total / (len(tokens) - 1) ** length_penalty

    beam = [([start], 0.0, False)]  # tokens, sum of log-probabilities, whether finished
    for _ in range(max_len):
        live = [one for one in beam if not one[2]]
        if not live:
            break
        batch = torch.tensor([tokens for tokens, _, _ in live])  # (n, t)
        rows = log_probs(batch)  # (n, V)
        best = rows.topk(min(beam_width, rows.shape[1])).indices.tolist()  # of one hypothesis, no more can be kept
        beam = [one for one in beam if one[2]]
        for n, (tokens, total, _) in enumerate(live):
            for i in best[n]:
                if (value := rows[n, i].item()) > -math.inf:
                    beam.append(([*tokens, i], total + value, i == eos))
        beam = sorted(beam, key=score, reverse=True)[:beam_width]
    return [(one[0], score(one)) for one in beam]
    # --- end
