"""Objects that know their score, and the best of a heap."""

import heapq
from dataclasses import dataclass, field

import torch


@dataclass(order=True)
class Hypothesis:
    score: float
    tokens: list = field(compare=False)
    total: float = field(compare=False)
    finished: bool = field(compare=False, default=False)

    def extended(self, token, value, eos, alpha):
        total = self.total + value
        return Hypothesis(total * len(self.tokens) ** -alpha, [*self.tokens, token], total, token == eos)


def beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0):
    for name, value in (("beam_width", beam_width), ("max_len", max_len)):
        if value < 1:
            raise ValueError(f"{name} should be at least 1, got {value}")
    beam = [Hypothesis(0.0, [start], 0.0)]
    while max_len and (live := [one for one in beam if not one.finished]):
        rows = torch.sort(log_probs(torch.tensor([one.tokens for one in live])), descending=True)
        beam = [one for one in beam if one.finished]
        for one, values, tokens in zip(live, rows.values[:, :beam_width].tolist(), rows.indices.tolist()):
            pairs = [(t, v) for v, t in zip(values, tokens[: len(values)]) if v != float("-inf")]
            beam += [one.extended(token, value, eos, length_penalty) for token, value in pairs]
        beam, max_len = heapq.nlargest(beam_width, beam), max_len - 1
    return [(one.tokens, one.score) for one in beam]
