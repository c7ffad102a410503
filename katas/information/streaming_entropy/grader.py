"""What is checked of StreamingEntropy."""

import math
from functools import partial

import torch
from torch import Tensor

from graders.kata import FULL, Answer, Arguments, Budget, Case, Draw, Grader, Tolerance


class Right:
    """Keeps all logits, and takes the softmax of everything at once."""

    def __init__(self, rows: int) -> None:
        self.x = torch.zeros(rows, 0, dtype=torch.float64)

    def update(self, logits: Tensor) -> None:
        self.x = torch.cat([self.x, logits.detach().double()], 1)

    def merge(self, other: "Right") -> None:
        self.x = torch.cat([self.x, other.x], 1)

    def log_sum_exp(self) -> Tensor:
        return self.x.logsumexp(1)

    def entropy(self) -> Tensor:
        return torch.special.entr(self.x.softmax(1)).sum(1)


# Scenarios


def streamed(StreamingEntropy, logits, chunks, start=1, alternating=False):
    """Chunk after chunk, asked from one of them on; alternating chunks are in the other dtype."""
    with logits.device:
        stream = StreamingEntropy(logits.shape[0])
    found, dtypes = {}, (torch.float64, torch.float32)
    for number, chunk in enumerate(logits.split(chunks, 1), start=1):
        stream.update(chunk.to(dtypes[number % 2]) if alternating else chunk)
        if number >= start:
            found[f"chunks 1 to {number}"] = {"log_sum_exp": stream.log_sum_exp(), "entropy": stream.entropy()}
    return found


def merged(StreamingEntropy, logits, chunks, order):
    """Each chunk goes to a stream of its own. Of each pair in `order`, the first takes up the second.

    Then the first stream gets more, after which the others are as before.
    """
    with logits.device:
        streams = [StreamingEntropy(logits.shape[0]) for _ in chunks]
    for stream, chunk in zip(streams, logits.split(chunks, 1), strict=True):
        if chunk.shape[1]:
            stream.update(chunk)
    for one, other in order:
        streams[one].merge(streams[other])
    found = {}
    for when in ("", ", later"):
        for number, stream in enumerate(streams, start=1):
            if chunks[number - 1] or number - 1 in [one for one, _ in order]:
                seen = {"log_sum_exp": stream.log_sum_exp(), "entropy": stream.entropy()}
                found[f"stream {number}{when}"] = seen
        streams[order[0][0]].update(2 * logits[:, :1])
    return found


def changed_by_the_caller(StreamingEntropy, logits, chunks):
    """Chunks and results are overwritten."""
    with logits.device:
        stream, other = StreamingEntropy(logits.shape[0]), StreamingEntropy(logits.shape[0])
    for chunk in logits.split(chunks, 1):
        mine = chunk.clone()
        stream.update(mine)
        mine.fill_(99)
        for one in (stream.log_sum_exp(), stream.entropy()):
            one.fill_(99)
    other.merge(stream)
    for one in (other.log_sum_exp(), other.entropy()):
        one.fill_(99)
    return {"log_sum_exp": stream.log_sum_exp(), "entropy": stream.entropy(), "entropy elsewhere": other.entropy()}


def learning(StreamingEntropy, logits, chunks):
    """The logits require gradients, as what a network made."""
    with logits.device:
        stream = StreamingEntropy(logits.shape[0])
    for chunk in logits.split(chunks, 1):
        with torch.enable_grad():
            stream.update(chunk.clone().requires_grad_() * 1)
    with torch.enable_grad():
        found = {"log_sum_exp": stream.log_sum_exp(), "entropy": stream.entropy()}
    return found | {f"{name} requires grad": one.requires_grad for name, one in [*found.items()]}


def in_turn(StreamingEntropy, logits, updates):
    """Each chunk is made for one update, and requires gradients."""
    stream = StreamingEntropy(logits.shape[0])
    for number in range(updates):
        with torch.enable_grad():
            stream.update((2 ** (number % 3) * logits).requires_grad_() * 1)
    return stream.log_sum_exp(), stream.entropy()


def in_two_halves(StreamingEntropy, logits):
    one, other = StreamingEntropy(logits.shape[0]), StreamingEntropy(logits.shape[0])
    for stream, half in zip((one, other), logits.chunk(2, 1), strict=True):
        stream.update(half)
    one.merge(other)
    return one.log_sum_exp(), one.entropy()


def misfit(StreamingEntropy, logits, rows, merges):
    """The logits have another number of rows, or what has seen them."""
    stream, other = StreamingEntropy(rows), StreamingEntropy(logits.shape[0])
    stream.update(logits[:1].expand(rows, -1))
    other.update(logits)
    return stream.merge(other) if merges else stream.update(logits)


def update_alone(StreamingEntropy, logits):
    StreamingEntropy(logits.shape[0]).update(logits)


def asked_early(StreamingEntropy, logits, method, updates):
    stream = StreamingEntropy(logits.shape[0])
    for _ in range(updates):
        stream.update(logits)
    return getattr(stream, method)()


# Inputs


def cut(draw: Draw, total: int, most: int) -> list[int]:
    """Lengths of chunks that add up to the total."""
    lengths: list[int] = []
    while sum(lengths) < total:
        lengths.append(min(draw.size(1, most), total - sum(lengths)))
    return lengths


def stream(draw: Draw, rows: int, *chunks: int, std: float = 3.0, **more: object) -> Arguments:
    return {"logits": draw.normal(rows, sum(chunks), std=std), "chunks": [*chunks], **more}


def rising(draw: Draw, rows: int, *chunks: int, steps: tuple[float, ...]) -> Arguments:
    """Each chunk is higher than the one before it by such a step."""
    made = stream(draw, rows, *chunks)
    levels = torch.tensor(steps, dtype=torch.float64).cumsum(0)
    return made | {"logits": made["logits"] + levels.repeat_interleave(torch.tensor(chunks))}


def maxima(draw: Draw) -> list[Arguments]:
    """They grow, fall, and do both."""
    ups = (0.0, *(draw.number(2, 20) for _ in range(3)))
    downs = tuple(-one for one in ups)
    return [rising(draw, 3, 4, 2, 5, 3, steps=steps) for steps in (ups, downs, (*ups[:2], *downs[2:]))]


def any_cuts(draw: Draw) -> list[Arguments]:
    made = []
    for most in (1, 4, 30):
        rows, total = draw.shape(2, least=2, most=24)
        made.append(stream(draw, rows, *cut(draw, total, most), std=draw.number(0.5, 4)))
    return made


def rows_far_apart(draw: Draw) -> list[Arguments]:
    """Rows whose levels differ by more than exp can bridge; in the second stream they change places."""
    made = [stream(draw, 4, 3, 4, 2) for _ in range(2)]
    levels = torch.tensor([1.0, -1.0, 0.0, 0.5], dtype=torch.float64)[:, None] * draw.number(800, 1500)
    made[0]["logits"] += levels
    made[1]["logits"][:, :3] += levels
    made[1]["logits"][:, 3:] -= levels
    return made


def large(draw: Draw) -> list[Arguments]:
    """Up to ±1e4: far from each other, and near. Σ p x with p = exp(x − log Z) is off by up to 1e-8, and welcome."""
    scattered = stream(draw, 3, 2, 5, 4) | {"logits": draw.uniform(3, 11, low=-1e4, high=1e4)}
    near = [stream(draw, 3, 2, 1, 6, std=1.0) for _ in range(2)]
    for one, level in zip(near, (1e4, -1e4), strict=True):
        one["logits"] = (one["logits"] + level).clamp(-1e4, 1e4)
    return [scattered, *near]


def minus_infinity(draw: Draw) -> list[Arguments]:
    """Some of each chunk, all of the first one, all of a later one; one row waits longer than the others."""
    made = [stream(draw, 3, 3, 2, 4, start=start) for start in (1, 3, 1, 3)]
    made[0]["logits"][:, (0, 4, 8)] = -math.inf
    made[1]["logits"][:, :5] = -math.inf
    made[2]["logits"][:, 3:5] = -math.inf
    made[3]["logits"][1, :5] = -math.inf
    made[3]["logits"][2, 5:] = -math.inf
    return made


def no_logit(draw: Draw) -> list[Arguments]:
    return [stream(draw, 3, 0, 4, start=2), stream(draw, 2, 3, 0, 2, 0), stream(draw, 1, 0, 0, 1, start=3)]


def one_finite_logit(draw: Draw) -> list[Arguments]:
    made = [stream(draw, 3, 1), stream(draw, 1, 1, 2, 1), stream(draw, 3, 2, 3, start=2)]
    made[1]["logits"][:, 1:] = -math.inf
    made[2]["logits"][:, (0, 1, 2, 4)] = -math.inf
    return made


def merges(draw: Draw) -> list[Arguments]:
    """The first takes up the second, whose maximum is lower or higher; a chain; both take up each other."""
    made = [rising(draw, 3, 5, 4, steps=(0.0, step)) | {"order": [[0, 1]]} for step in (-9.0, 9.0)]
    chain = rising(draw, 2, 3, 4, 2, steps=(0.0, draw.number(2, 9), -12.0))
    return [*made, chain | {"order": [[1, 2], [0, 1]]}, chain | {"order": [[0, 1], [1, 0]]}]


def merges_with_an_empty_one(draw: Draw) -> list[Arguments]:
    """It takes up another, is taken up, or both; or has seen −∞ alone in some rows."""
    asked = (((0, 5), [[0, 1]]), ((4, 0), [[0, 1]]), ((0, 3, 0), [[0, 2], [0, 1]]), ((3, 2), [[0, 1], [1, 0]]))
    made = [stream(draw, 3, *chunks, order=order) for chunks, order in asked]
    made[3]["logits"][1:, 3:] = -math.inf
    made[3]["logits"][:1, :3] = -math.inf
    return made


def merges_with_itself(draw: Draw) -> list[Arguments]:
    return [stream(draw, 3, 5, order=[[0, 0]]), stream(draw, 2, 3, 4, order=[[0, 1], [0, 0], [0, 0]])]


def other_rows(draw: Draw) -> list[Arguments]:
    sizes = ((4, 2), (1, 2), (2, 3), (2, 1))
    return [{"logits": draw.normal(had, 3), "rows": rows, "merges": merges} for had, rows in sizes for merges in (0, 1)]


def nan(draw: Draw) -> list[Arguments]:
    made = [draw.normal(3, 4) for _ in range(3)]
    made[0][1, 2] = made[1][0, 0] = made[2][2, 3] = math.nan
    made[1][0, 1:] = made[2][:2] = -math.inf
    return [{"logits": one} for one in made]


def too_early(draw: Draw) -> list[Arguments]:
    """Before anything, after nothing, after −∞ alone, and in one row of three."""
    some = draw.normal(3, 4)
    some[draw.size(0, 2)] = -math.inf
    asked = [(some, 0), (torch.zeros(3, 0), 1), (torch.full((3, 2), -math.inf), 2), (some, 2)]
    methods = ("entropy", "log_sum_exp")
    return [{"logits": logits, "method": method, "updates": n} for method in methods for logits, n in asked]


def within(absolute: float) -> dict[torch.dtype, Tolerance]:
    """The same in float32: results are in float64, and so is what they are calculated from."""
    return dict.fromkeys(FULL, Tolerance(0, 0, absolute))


case = partial(Case, scenario=streamed)
robust = partial(Case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class StreamingEntropy(rows)",
            oracle=Right,
            methods=("update(logits)", "merge(other)", "log_sum_exp()", "entropy()"),
            half=False,
            returns=(torch.float64,),
            tolerance=within(1e-11),
            cases=(
                case("one_chunk", lambda draw: stream(draw, 3, 7)),
                case("maxima", maxima),
                case("any_cuts", any_cuts),
                case("rows_far_apart", rows_far_apart, tolerance=within(2e-9)),
                case("large_logits", large, tolerance=within(3e-8)),
                Case("merges", merges, scenario=merged),
                case("minus_infinity", minus_infinity, core=False),
                case("no_logit", no_logit, core=False),
                case("one_finite_logit", one_finite_logit, core=False, tolerance=within(0.0)),
                Case("merges_with_an_empty_one", merges_with_an_empty_one, scenario=merged, core=False),
                Case("merges_with_itself", merges_with_itself, scenario=merged, core=False),
                case(
                    "both_dtypes",
                    lambda draw: stream(draw, 3, 4, 3, 5, alternating=True),
                    dtypes=(torch.float64,),
                    core=False,
                ),
                robust(
                    "many_updates",
                    lambda draw: stream(draw, 2, *[2] * 1100, start=1100),
                    scenario=streamed,
                    dtypes=(torch.float64,),
                ),
                robust("changed_by_the_caller", lambda draw: stream(draw, 3, 4, 2, 5), scenario=changed_by_the_caller),
                robust("learning", lambda draw: stream(draw, 3, 4, 2), scenario=learning),
                Case("another_number_of_rows", other_rows, scenario=misfit, raises=ValueError),
                Case("not_a_number", nan, scenario=update_alone, raises=ValueError),
                Case("too_early", too_early, scenario=asked_early, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "long_chunks",
                    sizes={"logits": (512, 4096)},
                    inputs=lambda draw, logits: {"logits": draw.normal(4, logits)},
                    scenario=in_two_halves,
                    hints={"logits": "exp, sum and amax take all logits of a chunk at once"},
                ),
                Budget(
                    "long_streams",
                    sizes={"updates": (10, 40)},
                    peak=2,
                    inputs=lambda draw, updates: {"logits": draw.normal(16, 2048), "updates": updates},
                    asks=("memory",),
                    scenario=in_turn,
                    hints={"updates": "keep a few numbers for each row, no logits and no graph"},
                ),
            ),
        ),
    ),
    banned=("distributions",),
)
