"""What is checked of sinusoidal_encoding, alibi_slopes and alibi_bias."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Tolerance

SMALL = {torch.float32: Tolerance(2e-5, 0.0, 1e-8)}  # relative, for small slopes also
BIAS_SIZES = {"num_heads": (2, 40), "q_len": (2, 9), "k_len": (10, 30)}
ROUNDED = {torch.float32: Tolerance(0.0, 0.0, 1e-6)}  # of float32 angles: 3e-4 at position 8000


def sinusoids(length: int, dim: int, base: float = 10000.0, dtype: torch.dtype = torch.float32) -> Tensor:
    frequencies = [base ** (-2 * i / dim) for i in range(dim // 2)]
    rows = [[of(p * w) for w in frequencies for of in (math.sin, math.cos)] for p in range(length)]
    return torch.tensor(rows, dtype=torch.float64).view(length, dim)


def slopes(num_heads: int) -> Tensor:
    """The recursion of the paper's code, as its words say it."""
    if num_heads & (num_heads - 1) == 0:
        return torch.tensor([2 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)], dtype=torch.float64)
    lower = 2 ** (num_heads.bit_length() - 1)
    return torch.cat((slopes(lower), slopes(2 * lower)[::2][: num_heads - lower]))


def bias(num_heads: int, q_len: int, k_len: int | None = None) -> Tensor:
    k_len = k_len or q_len
    distances = [[abs(i + k_len - q_len - j) for j in range(k_len)] for i in range(q_len)]
    return -slopes(num_heads)[:, None, None] * torch.tensor(distances)


def in_dtype(sinusoidal_encoding, length, dim, kind):
    return sinusoidal_encoding(length, dim, dtype=getattr(torch, kind))


def after_writing(sinusoidal_encoding, alibi_slopes, alibi_bias, length, dim, heads):
    encodings = sinusoidal_encoding(length, dim), sinusoidal_encoding(length, dim, dtype=torch.float64)
    for tensor in (*encodings, alibi_slopes(heads), alibi_bias(heads, length)):
        torch.Tensor.fill_(tensor, 7)
    return {
        "encoding": sinusoidal_encoding(length, dim),
        "slopes": alibi_slopes(heads),
        "bias": alibi_bias(heads, length),
    }


def ask(name: str, *calls: Arguments, **more: Any) -> Case:
    """No tensor comes in, so every case is asked once."""
    return Case(name, lambda draw: list(calls), **({"dtypes": (torch.float32,)} | more))


def encodings(*sizes: tuple[int, int], **more: Any) -> list[Arguments]:
    return [{"length": length, "dim": dim, **more} for length, dim in sizes]


def heads(*numbers: int) -> list[Arguments]:
    return [{"num_heads": number} for number in numbers]


def biases(*sizes: tuple[int, ...]) -> list[Arguments]:
    """(H, q_len), or with k_len."""
    return [dict(zip(("num_heads", "q_len", "k_len"), one, strict=False)) for one in sizes]


def any_biases(draw: Draw, **sizes: int) -> list[Arguments]:
    """Of one head also beyond 4096: float16 counts to 2048, and takes 4097 for 4096."""
    return [sizes, *biases((1, draw.size(1, 3), draw.size(4100, 4200)))]


def robust(kind: str) -> Case:
    """300 rows, as bfloat16 counts to 256, and none. Rounded once, which is less than a unit in the last place of 1."""
    calls = [call | {"kind": kind} for call in encodings((300, 6), (0, 2))]
    dtype = getattr(torch, kind)
    rounded = {} if dtype == torch.float64 else {dtype: Tolerance(0.0, 0.0, torch.finfo(dtype).eps / 2)}
    return ask(f"in_{kind}", *calls, scenario=in_dtype, dtypes=(dtype,), category="robustness", tolerance=rounded)


def budget(name: str, inputs: Callable[..., Arguments], hint: str, **sizes: tuple[int, int]) -> Budget:
    return Budget(name, sizes, lambda draw, **given: inputs(**given), hints=dict.fromkeys(sizes, hint))


GRADER = Grader(
    answers=(
        Answer(
            "sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32)",
            oracle=sinusoids,
            cases=(
                ask("five_by_six", *encodings((5, 6))),
                ask("other_sizes", *encodings((1, 2), (7, 2), (1, 8), (3, 12), (50, 4), (6, 6))),
                ask(
                    "other_base",
                    *(call for base in (100.0, 500_000.0, 1.5, 7.5) for call in encodings((6, 8), base=base)),
                ),
                Case(
                    "any_sizes",
                    lambda draw, length, pairs: {"length": length, "dim": 2 * pairs, "base": draw.number(2, 1e5)},
                    sizes={"length": (2, 50), "pairs": (4, 40)},
                    dtypes=(torch.float32,),
                ),
                ask("far_positions", *encodings((8200, 6), base=12_345.6), category="robustness", tolerance=ROUNDED),
                *map(robust, ("bfloat16", "float16", "float64")),  # what is kept of the first is worse than the others
                ask("no_positions", *encodings((0, 6), (0, 2)), core=False),
                ask("negative_length", *encodings((-1, 6), (-5, 2)), raises=ValueError),
                ask("odd_dim", *encodings((5, 3), (4, 1), (3, 7), (0, 5)), raises=ValueError),
            ),
            budgets=(
                budget(
                    "many_positions",
                    lambda positions: {"length": positions, "dim": 2},  # whole angles, which float32 holds
                    "positions[:, None] * theta gives all angles",
                    positions=(256, 4096),
                ),
            ),
        ),
        Answer(
            "alibi_slopes(num_heads)",
            oracle=slopes,
            tolerance=SMALL,
            cases=(
                ask("eight_heads", *heads(8)),
                ask("powers_of_two", *heads(1, 2, 4, 16, 32, 64, 128)),
                ask("other_numbers", *heads(12, 3, 5, 6, 7, 11, 20, 24, 40, 71, 100, 127, 129)),
                Case(
                    "any_number",
                    lambda draw, **numbers: heads(2 ** draw.size(0, 8), *numbers.values()),
                    sizes={"few": (3, 60), "many": (61, 250), "more": (260, 500)},
                    dtypes=(torch.float32,),
                ),
                ask("no_heads", *heads(0, -1, -8), raises=ValueError),
            ),
        ),
        Answer(
            "alibi_bias(num_heads, q_len, k_len=None)",
            oracle=bias,
            tolerance=SMALL,
            cases=(
                ask("four_queries", *biases((2, 4))),
                ask("more_keys", *biases((2, 3, 7), (4, 1, 6), (8, 2, 3), (2, 5, 5))),
                Case("any_sizes_of_bias", any_biases, sizes=BIAS_SIZES, dtypes=(torch.float32,)),
                ask("other_numbers_of_heads", *biases((3, 3), (6, 4, 5), (1, 1), (1, 1, 4), (12, 2, 12))),
                Case(
                    "results_written_over",
                    lambda draw: {"length": 4, "dim": 6, "heads": draw.size(3, 12)},
                    dtypes=(torch.float32,),
                    scenario=after_writing,
                    category="robustness",
                ),
                ask("no_heads_for_bias", *biases((0, 4), (-2, 3, 5)), raises=ValueError),
                ask("fewer_keys", *biases((2, 4, 3), (1, 2, 1), (12, 5, 0), (2, 3, -1)), raises=ValueError),
            ),
            budgets=(
                budget(
                    "many_pairs",
                    lambda queries, keys: {"num_heads": 12, "q_len": queries, "k_len": keys},
                    "positions[:, None] - positions gives all distances",
                    queries=(32, 128),
                    keys=(128, 512),
                ),
            ),
        ),
    ),
)
