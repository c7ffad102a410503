"""What is checked of info_nce, chunk after chunk."""

from dataclasses import replace

from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, two_views

HINTS = {
    "samples": "keep one table of (chunk_size, 2N) at a time, a mask included, and make it anew in the backward pass",
    "features": "multiply matrices, do not broadcast and sum",
}


def oracle(features: Tensor, temperature: float = 0.1, chunk_size: int = 256) -> Tensor:
    return two_views.info_nce(features, temperature)


def chunk_sizes(draw: Draw) -> list[Arguments]:
    """From 1 to beyond the number of rows, divisors of it and others. The last one cuts 2 · 150 rows in two."""
    asked = [(5, size) for size in (1, 2, 4, 5, 6, 7, 9, 10, 11, 1000, 10**13)] + [(1, 1), (1, 2), (1, 3), (4, 8)]
    asked.append((draw.size(8, 20), draw.size(2, 40)))
    made: list[Arguments] = [
        {"features": two_views.views(draw, N, 3), "temperature": 0.3, "chunk_size": size} for N, size in asked
    ]
    return [*made, {"features": two_views.views(draw, 150, 4), "temperature": 0.3}]


def two_batches(info_nce, features):
    first, second = info_nce(features[:6], 0.2, chunk_size=2), info_nce(features[6:], 0.3, chunk_size=3)
    return first - 2 * second


def below_1(draw: Draw) -> list[Arguments]:
    return [{"features": draw.normal(6, 4), "chunk_size": size} for size in (0, -1, -2, -6, -256)]


def many_rows(draw: Draw, samples: int, features: int, chunk_size: int) -> Arguments:
    return {"features": two_views.views(draw, samples, features), "chunk_size": chunk_size}


def many_in_half(draw: Draw) -> Arguments:
    """600 rows in 23 chunks: square tiles are 529, which a GPU also takes in time. In chunks of 3 they are 40,000."""
    return many_rows(draw, 300, 4, chunk_size=27)


GRADER = Grader(
    answers=(
        Answer(
            "info_nce(features, temperature=0.1, chunk_size=256)",
            oracle=oracle,
            differentiable=("features",),
            inference=False,  # an answer may take each chunk's gradient in its forward pass
            tolerance=two_views.rounded_at(0.1),
            budgets=(
                Budget(
                    "few_chunks",
                    sizes={"samples": (24, 96), "features": (16, 64)},
                    inputs=lambda draw, **sizes: many_rows(draw, **sizes, chunk_size=80),
                    asks=("loops",),  # 3 chunks, or 9 tiles, are looped over
                    operators=10,
                    hints={**HINTS, "samples": "take the rows of a chunk at once"},
                ),
                Budget(
                    "many_chunks",
                    sizes={"samples": (128, 960)},
                    inputs=lambda draw, samples: many_rows(draw, samples, 8, chunk_size=20),
                    asks=("memory",),
                    written=30,  # tiles may be of any size
                    peak=4,  # (2N)² bytes, a boolean table, would be 7 times the reference's
                    hints=HINTS,
                ),
            ),
            cases=(
                *(
                    replace(case, inputs=many_in_half) if case.name == "many_rows_in_half" else case
                    for case in two_views.cases(chunk_size=3)
                ),
                Case("chunk_sizes", chunk_sizes),
                Case("two_batches", lambda draw: {"features": draw.normal(14, 5)}, scenario=two_batches),
                Case("chunk_size_below_1", below_1, raises=ValueError),
            ),
        ),
    ),
)
