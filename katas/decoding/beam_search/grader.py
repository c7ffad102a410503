"""What is checked of beam_search."""

import heapq
import math
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import FULL, TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission

Hypothesis = tuple[list[int], float]


def one_by_one(
    log_probs: Callable[[Tensor], Tensor],
    start: int,
    eos: int,
    beam_width: int = 4,
    max_len: int = 20,
    length_penalty: float = 0.0,
) -> list[Hypothesis]:
    """One call for each hypothesis, which is extended by as many of the best tokens as there could be left."""

    def finished(tokens: list[int]) -> bool:
        return len(tokens) > 1 and tokens[-1] == eos

    def score(hypothesis: Hypothesis) -> float:
        return hypothesis[1] / (len(hypothesis[0]) - 1) ** length_penalty

    beam: list[Hypothesis] = [([start], 0.0)]  # with sums of log-probabilities
    for _ in range(max_len):
        longer = [one for one in beam if finished(one[0])]
        for tokens, total in (one for one in beam if not finished(one[0])):
            row = enumerate(log_probs(torch.tensor([tokens]))[0].tolist())
            best = heapq.nlargest(beam_width, row, key=itemgetter(1))
            longer += [([*tokens, token], total + value) for token, value in best if value > -math.inf]
        beam = sorted(longer, key=score, reverse=True)[:beam_width]
    return [(tokens, score((tokens, total))) for tokens, total in beam]


# Scenarios: what comes after a prefix stands in a table, in a row that depends on all its tokens and their places.


def searched(beam_search, table, start, eos, beam_width=None, max_len=None, length_penalty=None):
    def log_probs(tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        row = torch.sum(tokens * (3 * places * places + 1), 1) % table.shape[1]
        return table[tokens.shape[1] - 1, row.to(table.device)].to(tokens.device)

    given = {"beam_width": beam_width, "max_len": max_len, "length_penalty": length_penalty}
    options = {name: value for name, value in given.items() if value is not None}
    found = beam_search(log_probs, start, eos, **options)
    return {f"hypothesis {n}": {"tokens": repr(tokens), "score": score} for n, (tokens, score) in enumerate(found, 1)}


def called(beam_search, table, start, eos, beam_width, max_len):
    calls = []

    def log_probs(tokens):
        calls.append((str(tokens.dtype), [*tokens.shape]))
        row = torch.sum(tokens, 1) % table.shape[1]
        return table[tokens.shape[1] - 1, row.to(table.device)].to(tokens.device)

    found = beam_search(log_probs, start, eos, beam_width=beam_width, max_len=max_len)
    return calls, [len(tokens) - 1 for tokens, _ in found]


# Inputs


def model(draw: Draw, steps: int, tokens: int, end: float, rows: int = 16, std: float = 1.5, eos: int = -1) -> Tensor:
    """Log-probabilities, (steps, rows, tokens), where `end` is added to the logit of eos, the last token by default.

    Each length has a table of its own, so that no two hypotheses are sums of the same numbers.
    """
    logits = draw.normal(steps, rows, tokens, std=std)
    logits[..., eos] += end
    return logits.log_softmax(-1)


def asked(tokens: int = 6, end: float = -1.0, start: int = 0, eos: int = -1, **options: Any) -> Inputs:
    def inputs(draw: Draw) -> Arguments:
        table = model(draw, options.get("max_len", 20) + 2, tokens, end, eos=eos)
        return {"table": table, "start": start, "eos": eos % tokens, **options}

    return inputs


def any_sizes(draw: Draw) -> list[Arguments]:
    made = []
    for end in (-1.0, 0.0, 1.0):
        tokens, start = draw.size(4, 14), draw.size(0, 3)
        eos = (start + draw.size(1, tokens - 1)) % tokens  # another token: see start_is_eos
        options = {"start": start, "eos": eos, "beam_width": draw.size(2, min(7, tokens))}
        options |= {"max_len": draw.size(3, 10), "length_penalty": draw.number(0.3, 1.5)}
        made.append(asked(tokens, end, **options)(draw))
    return made


def with_impossible_tokens(draw: Draw) -> list[Arguments]:
    """One to three of five tokens are possible in a row, eos in two rows of three."""
    made = []
    for options in ({}, {"beam_width": 30, "max_len": 3}, {"beam_width": 6, "length_penalty": 1.0, "max_len": 10}):
        logits = draw.normal(22, 16, 5, std=1.5).masked_fill(draw.uniform(22, 16, 5) < 0.6, -math.inf)
        logits[..., 1] = draw.normal(22, 16)
        made.append({"table": logits.log_softmax(-1), "start": 0, "eos": 4, **options})
    return made


def out_of_range(draw: Draw) -> list[Arguments]:
    wrong = ({"beam_width": 0}, {"beam_width": -1}, {"max_len": 0}, {"max_len": -2}, {"beam_width": 0, "max_len": 1})
    return [asked()(draw) | one for one in wrong]


def long_sequence(draw: Draw) -> Arguments:
    """The best sum is below −1200: exp of it is 0 in float64 also. eos costs more than all other tokens."""
    table = model(draw, 402, 50, end=-3000.0, rows=3, std=0.3)
    return {"table": table, "start": 0, "eos": 49, "beam_width": 3, "max_len": 400}


def case(name: str, *made: Inputs, **more: Any) -> Case:
    return Case(name, lambda draw: [one(draw) for one in made], scenario=searched, **more)


EXACT = dict.fromkeys(FULL, TOLERANCES[torch.float64])
# Over more steps, an answer that divides sums again and again loses all digits in which hypotheses differ. Then chance
# orders them: see the mistake divided_again.
PENALTIES = [asked(length_penalty=p, end=end, max_len=10) for p in (0.5, 1.0) for end in (-1.0, 0.0, 1.0)]
GRADER = Grader(
    answers=(
        Answer(
            "beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0)",
            oracle=one_by_one,
            half=False,
            tolerance={torch.float64: TOLERANCES[torch.float32]},  # sums in float32 are no matter of the core
            cases=(
                case("by_default", asked(start=1, eos=0), asked(tokens=9), asked(end=-3.0, start=2)),
                case(
                    "other_widths",
                    *(asked(beam_width=K, end=end) for K, end in ((1, -1.0), (1, 8.0), (2, -1.0), (3, -1.0))),
                    asked(12, beam_width=10, end=-2.0),
                ),
                case("cut_off", asked(max_len=1), asked(max_len=2, end=-3.0), asked(max_len=9, end=-30.0)),
                case(
                    "best_of_all",
                    asked(3, beam_width=85, max_len=4, end=-1000.0),  # exp makes 0 of eos, whose sequences stay
                    asked(3, beam_width=85, max_len=4, length_penalty=0.7),
                    core=False,
                ),
                case("fewer_tokens_than_beams", asked(3, beam_width=8), asked(2), core=False),
                Case("any_sizes", any_sizes, scenario=searched),
                case("length_penalties", *PENALTIES, asked(length_penalty=2.0, beam_width=3, eos=3, max_len=7)),
                case(
                    "start_is_eos",
                    asked(start=5),
                    asked(start=5, beam_width=1, length_penalty=1.0, max_len=10),
                    category="robustness",
                ),
                Case(
                    "impossible_tokens",
                    with_impossible_tokens,
                    scenario=searched,
                    category="robustness",
                    tolerance=EXACT,
                ),
                Case(
                    "long_sequences",
                    long_sequence,
                    scenario=searched,
                    category="robustness",
                    tolerance=EXACT,
                ),
                Case("out_of_range", out_of_range, scenario=searched, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "large_vocabulary",
                    sizes={"tokens": (512, 4096)},
                    inputs=lambda draw, tokens: asked(tokens, end=3.0, max_len=4)(draw),
                    scenario=searched,
                    asks=("loops",),
                    hints={"tokens": "topk leaves a few tokens, and only those go through a loop"},
                ),
            ),
        ),
    ),
)


def fault(made: Any, beam_width: int, max_len: int) -> str:
    """What is wrong with the calls, or nothing: it may not matter whether finished hypotheses are in the batch."""
    calls, lengths = made
    if len(calls) > max_len:
        return f"calls of log_probs: should be at most max_len = {max_len}, got {len(calls)}"
    if len(lengths) != beam_width:
        return f"hypotheses: should be beam_width = {beam_width}, got {len(lengths)}"
    # Each step leaves a hypothesis that it has extended, so the longest one tells how many steps there were.
    if len(calls) != (steps := max(lengths)):
        return f"calls of log_probs: should be {steps}, after which all are finished, got {len(calls)}"
    for step, (dtype, (n, t)) in enumerate(calls, start=1):
        if t != step:
            return f"tokens in each row of call {step} of log_probs: should be {step}, got {t}"
        if dtype != "torch.int64":
            return f"dtype of the tokens for log_probs: should be int64, got {dtype[6:]}"
        if n > beam_width:
            return f"rows that log_probs is given: should be at most {beam_width}, got {n} rows of {t} tokens"
    return ""


@pytest.mark.robustness
def test_one_call_for_each_step(submission: Submission, draw: Draw) -> None:
    for beam_width, end in ((4, -1.0), (3, -30.0), (2, 4.0)):
        asks = {"beam_width": beam_width, "max_len": 7}
        given = {"table": model(draw, 9, 6, end), "start": 0, "eos": 5, **asks}
        wrong = submission.run(called, summary=partial(fault, **asks), **given)
        assert not wrong, wrong
