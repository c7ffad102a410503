"""What is checked of associative_scan and linear_recurrence."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Submission, Tolerance, calls, last_places


def row_by_row(op: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    assert len(x)
    first, *others = x.split(1)
    rows = [first]
    for row in others:
        rows.append(op(rows[-1], row))
    return torch.cat(rows)


def step_by_step(a: Tensor, b: Tensor, h0: Tensor | None = None) -> Tensor:
    h, states = torch.zeros_like(b[:, 0]) if h0 is None else h0, []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, dim=1)


# Scenarios. Each op is associative, and takes blocks of rows; all but the sums and the maximum depend on the order.


def scanned(associative_scan, x, name):
    def maps(earlier, later):  # of h -> a h + b
        return torch.stack([later[:, 0] * earlier[:, 0], later[:, 0] * earlier[:, 1] + later[:, 1]], 1)

    def rotations(earlier, later):  # products of complex numbers, as pairs
        (c, s), (u, v) = earlier.unbind(-1), later.unbind(-1)
        return torch.stack([c * u - s * v, c * v + s * u], -1)

    ops = {"sums": torch.add, "matrix products": torch.matmul, "maxima": torch.maximum, "maps": maps}
    return associative_scan((ops | {"rotations": rotations})[name], x)


def of_other_dtypes(associative_scan, numbers, dtype):
    """The latest entry that is not 0; sums; products of matrices of whole numbers, modulo 97."""
    x = numbers.to({"bool": torch.bool, "uint8": torch.uint8, "int16": torch.int16, "int64": torch.int64}[dtype])
    latest = associative_scan(lambda earlier, later: torch.where(later != 0, later, earlier), x)
    first = associative_scan(lambda earlier, later: earlier.clone(), x)
    found = {"the latest that is not 0": latest, "the first": first}
    if dtype == "bool":
        return found | {"whether their number is odd": associative_scan(torch.logical_xor, x)}
    found["sums"] = associative_scan(torch.add, x)
    if dtype == "int64":
        products = associative_scan(lambda earlier, later: (earlier[..., None] * later[:, None]).sum(2) % 97, x)
        found["products"] = products
    return found


def noted(associative_scan, x):
    """The rows of each call of op, one number after the other, and each kind of block that op got."""
    rows, kinds = [], set()

    def op(earlier, later):
        rows.append(len(earlier))
        kinds.update(f"rows of {list(block.shape[1:])} in {block.dtype}" for block in (earlier, later))
        if len(later) != len(earlier):
            kinds.add(f"{len(earlier)} and {len(later)} rows in one call")
        if len(rows) > 3000:
            raise RuntimeError("op should not be called more than 3,000 times")
        return earlier @ later

    associative_scan(op, x)
    return {"rows": " ".join(map(str, rows)), "kinds": sorted(kinds)}


def interrupted(associative_scan, x, at):
    """The call of this number raises. After that, the scan is made again."""
    raised, count = KeyError("op"), []

    def op(earlier, later):
        count.append(len(earlier))
        if len(count) == at:
            raise raised
        return earlier @ later

    try:
        came = f"a result of shape {list(associative_scan(op, x).shape)}"
    except Exception as caught:
        came = "the error of op" if caught is raised else f"another {type(caught).__name__}"
    return {"what came out": came, "the result afterwards": associative_scan(op, x)}


def matrices(draw: Draw, n: int, size: int = 3) -> Tensor:
    """Their products neither grow nor shrink much: each is near a rotation."""
    near = torch.eye(size) + draw.normal(n, size, size, std=0.3)
    return near / torch.linalg.matrix_norm(near, ord=2, keepdim=True).sqrt()


def rotations(draw: Draw, n: int) -> Tensor:
    angles = draw.uniform(n, low=-3, high=3)
    return torch.stack([angles.cos(), angles.sin()], -1)


def products(draw: Draw, *lengths: int) -> list[Arguments]:
    return [{"x": matrices(draw, n, 2 + n % 3), "name": "matrix products"} for n in lengths]


def few(draw: Draw) -> list[Arguments]:
    return [*products(draw, 5), {"x": draw.normal(6, 2), "name": "sums"}]


def any_length(draw: Draw) -> list[Arguments]:
    """Every length up to 18, then around powers of two, and what the seed draws."""
    return products(draw, *range(2, 19), 31, 32, 33, 64, draw.size(34, 63), draw.size(65, 130))


def one_row(draw: Draw) -> list[Arguments]:
    return [*products(draw, 1), {"x": draw.normal(1), "name": "sums"}]


def other_shapes(draw: Draw) -> list[Arguments]:
    """Rows without axes, and of up to four; rows of as many entries as there are rows."""
    n, m = draw.shape(2, least=3, most=12)
    made = [{"x": draw.normal(*shape), "name": "sums"} for shape in ((n,), (n, n), (n, 1, 1), draw.shape(4, most=7))]
    made += [{"x": draw.normal(m, 2, draw.size(2, 6), std=0.7), "name": "maps"}]
    made += [{"x": torch.stack([matrices(draw, 4) for _ in range(m)]), "name": "matrix products"}]
    return [*made, {"x": rotations(draw, n), "name": "rotations"}, {"x": draw.normal(m, 3), "name": "maxima"}]


def whole_numbers(draw: Draw) -> list[Arguments]:
    """Many entries are 0."""
    made = []
    for dtype, high in {"bool": 2, "uint8": 5, "int16": 9, "int64": 12}.items():
        n, size = draw.size(5, 12), draw.size(2, 4)
        seen = draw.integers(n, 1, 1, high=3) > 0
        made.append({"numbers": draw.integers(n, size, size, high=high) * seen, "dtype": dtype})
    return made


def steps(draw: Draw, B: int = 2, T: int = 5, D: int = 3, low: float = -1.0, high: float = 1.0) -> Arguments:
    return {"a": draw.uniform(B, T, D, low=low, high=high), "b": draw.normal(B, T, D)}


def with_h0(given: Arguments, draw: Draw, std: float = 1.0) -> Arguments:
    B, _, D = given["b"].shape
    return given | {"h0": draw.normal(B, D, std=std)}


def from_a_state(draw: Draw) -> list[Arguments]:
    made = [steps(draw), steps(draw, 3, 8, 2), steps(draw, *draw.shape(3))]
    return [*(with_h0(one, draw) for one in made), steps(draw, 1, 6, 4) | {"h0": torch.zeros(1, 4)}]


def lengths(draw: Draw) -> list[Arguments]:
    made = [steps(draw, 2, T, 2) for T in (*range(1, 10), 15, 16, 17, draw.size(18, 60))]
    return [*made, *(with_h0(steps(draw, 2, T, 3), draw) for T in (1, 2, 3, draw.size(10, 30)))]


def sizes_of_one(draw: Draw) -> list[Arguments]:
    made = [steps(draw, *sizes) for sizes in ((1, 5, 3), (2, 5, 1), (1, 1, 1), (1, 4, 1))]
    return [*made, *(with_h0(one, draw) for one in made)]


def equal_sizes(draw: Draw) -> list[Arguments]:
    n = draw.size(3, 6)
    return [steps(draw, n, n, n), with_h0(steps(draw, n, n, n), draw), with_h0(steps(draw, 3, n, 3), draw)]


def zeros_in_a(draw: Draw) -> list[Arguments]:
    """Where a is 0, the state begins anew; in some channel always, in some at the first step."""
    made = [steps(draw, 2, 9, 4) for _ in range(3)]
    for one in made[:2]:
        one["a"][draw.uniform(2, 9, 4) < 0.4] = 0
        one["a"][:, 0, 0], one["a"][:, :, 1] = 0, 0
    made[2]["a"][:] = 0
    return [made[0], with_h0(made[1], draw), with_h0(made[2], draw)]


def growing(draw: Draw) -> list[Arguments]:
    """States of up to a million; and coefficients of exactly 1 and −1."""
    large = steps(draw, 2, 40, 3, low=1, high=1.5)
    large["a"] *= 1 - 2 * draw.integers(2, 40, 3, high=2)
    units = steps(draw, 2, draw.size(20, 40), 3)
    units["a"] = units["a"].sign()
    return [with_h0(large, draw), with_h0(units, draw)]


def many_steps(draw: Draw) -> list[Arguments]:
    """Their products are 0 in every dtype; of both signs; and a state that stays for hundreds of steps."""
    made = [steps(draw, 1, 2000, 1), steps(draw, 1, draw.size(300, 500), 1, low=0.2, high=0.9)]
    return [*made, with_h0(steps(draw, 1, 400, 2, low=0.99, high=1), draw, std=100.0)]


def disagreeing(draw: Draw) -> list[Arguments]:
    """Some would broadcast, some have as many entries."""
    changes: list[dict[str, tuple[int, ...]]] = [
        {"a": (2, 4, 3)},
        {"a": (2, 1, 3)},
        {"a": (1, 5, 3)},
        {"a": (2, 5, 1)},
        {"b": (2, 1, 3)},
        {"b": (1, 5, 3)},
        {"b": (2, 6, 3)},
        {"a": (5, 2, 3)},
        {"a": (5, 3)},
        {"b": (3, 5, 2)},
    ]
    usual = steps(draw)
    made = [usual | {name: draw.normal(*size) for name, size in one.items()} for one in changes]
    states = ((3,), (1, 3), (2, 1), (3, 2), (2, 5), (2, 1, 3), (2, 5, 3), (5, 3), (1, 1), ())
    return [*made, *(usual | {"h0": draw.normal(*shape)} for shape in states)]


LARGEST = {torch.float32: Tolerance(0, 3e-5, 1e-5)}  # relative to the largest state, of whose size the rounding is
ask = partial(Case, scenario=scanned)
robust = partial(Case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "associative_scan(op, x)",
            oracle=row_by_row,
            differentiable=("x",),
            tolerance=last_places(8, absolute=1),
            cases=(
                ask("few_rows", few),
                ask("any_length", any_length),
                ask("one_row", one_row),
                ask("rows_of_other_shapes", other_shapes),
                Case(
                    "whole_numbers", whole_numbers, scenario=of_other_dtypes, gradients="none", dtypes=(torch.float64,)
                ),
                robust(
                    "op_raises",
                    lambda draw: [{"x": matrices(draw, 9), "at": at} for at in (1, draw.size(2, 4))],
                    scenario=interrupted,
                    gradients="none",
                ),
                Case(
                    "no_rows",
                    lambda draw: [
                        {"x": torch.zeros(0, *shape).double(), "name": "sums"} for shape in ((), (3,), (2, 2))
                    ],
                    scenario=scanned,
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (144, 576)},
                    inputs=lambda draw, rows: {"x": draw.normal(rows, 4), "name": "sums"},
                    scenario=scanned,
                    hints={"rows": "let one call of op combine many pairs of rows"},
                ),
            ),
        ),
        Answer(
            "linear_recurrence(a, b, h0=None)",
            oracle=step_by_step,
            differentiable=("a", "b", "h0"),
            tolerance={**LARGEST, **last_places(8, absolute=1)},
            cases=(
                Case("five_steps", steps),
                Case("from_a_state", from_a_state, half=True),
                Case("any_number_of_steps", lengths),
                Case(
                    "sizes_of_the_seed",
                    lambda draw, B, T, D: [steps(draw, B, T, D), with_h0(steps(draw, B, T, D), draw)],
                    sizes={"B": (2, 6), "T": (2, 20), "D": (2, 6)},
                ),
                Case("sizes_of_one", sizes_of_one),
                Case("equal_sizes", equal_sizes),
                Case("zeros_in_a", zeros_in_a),
                robust("growing_states", growing),
                robust("many_steps", many_steps),
                Case("shapes_disagree", disagreeing, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "long_sequences",
                    sizes={"steps": (64, 512)},
                    inputs=lambda draw, steps: with_h0(
                        {"a": draw.uniform(2, steps, 4, low=-1), "b": draw.normal(2, steps, 4)}, draw
                    ),
                    operators=25,  # chunks of 32 steps are welcome
                    hints={"steps": "two steps in a row are again one step, h -> a h + b: scan these maps"},
                ),
            ),
        ),
    ),
    banned=("associative_scan", "cumsum", "cumprod", "logcumsumexp"),
)


@pytest.mark.robustness
def test_calls_of_op(submission: Submission, draw: Draw) -> None:
    """A row needs ⌈log₂ n⌉ rounds, and n rows n − 1 products: fewer cannot be right."""
    for n in (2, 3, 4, 7, 16, 33, draw.size(100, 300), 1024):
        rounds, size = (n - 1).bit_length(), draw.size(2, 4)
        found = submission.run(noted, x=matrices(draw, n, size))
        right, rows = f"rows of {[size, size]} in torch.float64", [*map(int, found["rows"].split())]
        others = [kind for kind in found["kinds"] if kind != right] or ["nothing"] * (found["kinds"] != [right])
        assert not others, f"what op gets for {n} rows of x: should be {right}, got {others[0]}"
        assert all(rows), f"rows that op gets for {n} rows of x: should be one or more, got none"
        wrong = calls.within("op", rows, calls=2 * rounds + 2, in_all=max(2 * n, n * rounds))
        assert not wrong, f"for {n} rows of x, {wrong}"
        enough = len(rows) >= rounds and sum(rows) >= n - 1
        least = f"at least {rounds}, of {n - 1} rows in all"
        assert enough, f"calls of op for {n} rows of x: should be {least}, got {len(rows)}, of {sum(rows)}"
