"""What is checked of moco_loss, momentum_update_ and FeatureQueue."""

from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor, nn

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Tolerance,
    last_places,
    two_views,
)

# A cosine rounded to half precision is off by half an epsilon, a logit by that over the temperature.
OFF = {dtype: 0.75 * torch.finfo(dtype).eps / 0.07 for dtype in HALF}
ROUNDED = {dtype: Tolerance(0.0, off, off) for dtype, off in OFF.items()}
# From 20 on F.softplus(x) is x, which is off by e⁻²⁰ = 2e-9, and welcome.
ROUNDED[torch.float64] = Tolerance(1e-8, 1e-8, 1e-12)
# An eps of 1e-12 added to a norm of 3e-7 is welcome, one of 1e-8 is not.
WITH_EPS = {torch.float64: Tolerance(1e-5, 1e-5, 1e-12), torch.float32: TOLERANCES[torch.float32]}


def loss_oracle(query: Tensor, key: Tensor, queue: Tensor, temperature: float = 0.07) -> Tensor:
    q, k, n = (x / x.square().sum(1, keepdim=True).sqrt() for x in (query, key.detach(), queue.detach()))
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ n.mT], 1) / temperature
    return (logits.logsumexp(1) - logits[:, 0]).mean()


def update_oracle(key_params: Iterable[Tensor], query_params: Iterable[Tensor], m: float = 0.999) -> None:
    assert 0 <= m <= 1
    for k, q in zip(key_params, query_params, strict=True):
        k.data.copy_(m * k.data + (1 - m) * q.data)


class QueueOracle:
    """One key after the other."""

    def __init__(self, dim: int, size: int) -> None:
        self.queue, self.count = torch.zeros(size, dim, dtype=torch.float64), 0

    def enqueue(self, keys: Tensor) -> None:
        for key in keys.detach():
            self.queue[self.count % len(self.queue)] = key
            self.count += 1


def views(draw: Draw, N: int, D: int, K: int, scale: float = 1.0, **options: object) -> Arguments:
    """Query and key are noisy views of one x; the queue is of others."""
    x = draw.normal(N, D)
    query, key = ((x + draw.normal(N, D)) * scale for _ in range(2))
    return {"query": query, "key": key, "queue": draw.normal(K, D) * scale, **options}


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1, and the gradient is 0."""
    asked = [(1, 4, 1), (1, 3, 6), (6, 3, 1), (5, 5, 5), (3, 8, 2), (2, 3, 9), (33, 24, 70), (4, 1, 3)]
    made = [views(draw, *shape, temperature=0.4) for shape in asked]
    return [*made, views(draw, *draw.shape(3), temperature=draw.number(0.2, 2))]


def at(*temperatures: float) -> Inputs:
    return lambda draw: [views(draw, 3, 4, 5, temperature=value) for value in temperatures]


def uneven_lengths(draw: Draw) -> Arguments:
    factors = torch.tensor([1e-4, 1e4, 1.0, 30.0, 1e-2, 300.0], dtype=torch.float64)
    made = views(draw, 6, 5, 6, scale=1e-3)  # norms from 3e-7: an eps of 1e-6, or 1e-8 beside a product, is too large
    return {name: x * factors[draw.permutation(6), None] for name, x in made.items()} | {"temperature": 0.3}


def special_angles(draw: Draw) -> list[Arguments]:
    """The key is the query, or opposite; the queries are among the negatives as well."""
    x = draw.normal(3, 4)
    return [{"query": x, "key": sign * x, "queue": torch.cat([x, draw.normal(2, 4)])} for sign in (1, -1)]


def small_temperature(draw: Draw, t: float = 1e-3) -> list[Arguments]:
    """Usual views, and positives that are opposite while all negatives are alike."""
    x = draw.normal(1, 5)
    query, key, queue = (sign * x + draw.normal(N, 5, std=0.2) for sign, N in ((1, 4), (-1, 4), (1, 6)))
    return [views(draw, 4, 5, 6, temperature=t), {"query": query, "key": key, "queue": queue, "temperature": t}]


def long_rows(draw: Draw) -> Arguments:
    """The norms are about 700, their squares about 500 000: beyond the 65 504 of float16. Every negative matters."""
    made = views(draw, 4, 64, 4, scale=60.0)
    return made | {"queue": made["query"].flip(0)}


def shaped(*shapes: tuple[tuple[int, ...], ...]) -> Inputs:
    names = ("query", "key", "queue")
    return lambda draw: [{name: draw.normal(*one) for name, one in zip(names, each, strict=True)} for each in shapes]


def same_tensor(moco_loss, query, queue):
    """One tensor is passed as query and as key."""
    return moco_loss(query, query, queue, 0.5)


def pairs(*asked: Arguments) -> Inputs:
    return lambda draw: [{"k": draw.normal(3, 4), "q": draw.normal(3, 4), **options} for options in asked]


def every_shape(draw: Draw) -> list[Arguments]:
    rows, m = 2 * draw.size(2, 9), draw.number(0.1, 0.9)
    drawn = {name: draw.normal(rows, 6) for name in "kq"} | {"m": m}
    return [*pairs({"m": 0.75}, {}, {"m": 0.25}, {"m": 0}, {"m": 1.0})(draw), drawn]


def small_steps(draw: Draw) -> Arguments:
    return {"k": draw.normal(3, 4, std=0.1), "q": draw.normal(3, 4, mean=1000.0, std=10.0)}


def move(momentum_update_, k, q, keys=4, queries=4, generators=False, **m):
    """Parameters of four shapes, the last of them not contiguous; `keys` and `queries` say how many are passed."""
    k, q = ([x[0].clone(), x[0, 0].clone(), x.reshape(2, 1, -1).clone(), x.clone().mT] for x in (k, q))
    k, q = k[:keys], q[:queries]
    if generators:
        momentum_update_((one for one in k), (one for one in q), **m)
    else:
        momentum_update_(k, q, **m)
    return {"key_params": k, "query_params": q}


def move_parameters(momentum_update_, k, q, of_key, of_query, enabled, m=0.8):
    key, query = nn.Parameter(k.clone(), requires_grad=of_key), nn.Parameter(q.clone(), requires_grad=of_query)
    key.grad, query.grad = k.clone(), q.clone()
    view, kept, written = key.detach(), {}, query._version
    with torch.set_grad_enabled(enabled):
        momentum_update_([key], [query], m=m)
        kept["is_grad_enabled() as before"] = torch.is_grad_enabled() == enabled
        kept["the query's parameter is not written to"] = query._version == written
        for keys, m in ([], 0.8), ([k.clone()], 2):
            try:
                momentum_update_(keys, [q.clone()], m=m)
            except (ValueError, AssertionError):
                pass  # whether it is refused is tested elsewhere
            finally:
                called = f"m = {m}, {len(keys)} in key_params and 1 in query_params"
                kept[f"is_grad_enabled() as before, after {called}"] = torch.is_grad_enabled() == enabled
    found = {"the key's parameter": key, "a view of the key's parameter, made before": view}
    found["is_leaf of the key's parameter"] = key.is_leaf
    found["requires_grad of both"] = [key.requires_grad, query.requires_grad]
    found["grad of both"] = [torch.zeros(0) if x.grad is None else x.grad for x in (key, query)]
    return found | kept


def batches(*asked: tuple[int, int, list[int]]) -> Inputs:
    """(dim, size, how many keys in each batch)."""
    made = [({"dim": dim, "size": size, "batches": B}, (sum(B), dim)) for dim, size, B in asked]
    return lambda draw: [{"keys": draw.normal(*shape), **one} for one, shape in made]


def round_the_end(draw: Draw) -> list[Arguments]:
    asked = [(3, 8, [3] * 5), (5, 5, [2] * 9), (4, 7, [5, 6, 1, 1, 3]), (3, 6, [6, 2, 6])]
    size = draw.size(9, 20)
    return batches(*asked, (draw.size(6, 12), size, [draw.size(2, size) for _ in range(draw.size(4, 8))]))(draw)


def misfit(draw: Draw, *shape: int) -> Arguments:
    return {"keys": draw.normal(*shape), "dim": 3, "size": 4, "batches": [shape[0]]}


def fill(FeatureQueue, keys, dim, size, batches):
    count = 0
    with keys.device:  # FeatureQueue has no argument for the device
        queue = FeatureQueue(dim, size)
    found = {"a new queue, as zeros": torch.zeros_like(queue.queue)}
    for number, batch in enumerate(keys.split(batches), start=1):
        queue.enqueue(batch)
        count += len(batch)
        found[f"rows in use after batch {number}"] = queue.queue[:count].detach().clone()
    return found


def rows_named(FeatureQueue, keys, dim, size, batches):
    """Which of two keys remains where one write names a row twice is undefined, and seldom shows with one thread."""
    twice = []

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function.__name__.strip("_") in ("setitem", "index_put", "index_copy", "scatter"):
                given = [*args, *(kwargs or {}).values()]
                flat = [one for value in given for one in (value if isinstance(value, tuple | list) else [value])]
                rows = [one for one in flat if isinstance(one, torch.Tensor) and one.dtype == torch.int64 and one.dim()]
                first = [one.flatten(1)[:, 0] if one.dim() > 1 else one for one in rows]
                twice.extend(len(one) - len(torch.unique(one)) for one in first)
            return function(*args, **(kwargs or {}))

    with keys.device:
        queue = FeatureQueue(dim, size)
    with Watch():
        for batch in keys.split(batches):
            queue.enqueue(batch)
    return {"rows that one write names twice": sum(twice)}


def fill_and_overwrite(FeatureQueue, keys, dim, size, batches):
    """The keys require gradients, some as what a network made, and change once they are in the queue."""
    with keys.device:
        queue = FeatureQueue(dim, size)
    for batch in keys.split(batches):
        mine = batch.clone().requires_grad_()
        with torch.enable_grad():
            mine = mine * 1 if len(batch) % 2 else mine
        queue.enqueue(mine)
        learning = [queue.queue.requires_grad, mine.requires_grad]
        mine.detach().fill_(99)
    return {"requires_grad of queue and keys": learning, "rows in use": queue.queue[: len(keys)].detach().clone()}


def fill_two(FeatureQueue, keys):
    with keys.device:
        one, other = FeatureQueue(3, 4), FeatureQueue(3, 4)
    one.enqueue(keys[:2])
    other.enqueue(keys[2:4])
    one.enqueue(keys[4:])
    return {"one queue": one.queue.detach().clone(), "rows of the other": other.queue[:2].detach().clone()}


BUDGET = Budget(
    "many_queries",
    sizes={"queries": (256, 2048), "negatives": (16, 64), "features": (8, 32)},
    inputs=lambda draw, queries, negatives, features: views(draw, queries, features, negatives),
    written=4,
    peak=4,
    hints={
        "queries": "take all queries at once, and pair each with its own key only: nothing of size (N, N)",
        "negatives": "one matrix product takes all rows of the queue",
        "features": "multiply matrices, rather than broadcast and sum",
    },
)
KEYS_BUDGET = Budget(
    "many_keys",
    sizes={"keys": (64, 512)},
    inputs=lambda draw, keys: {"keys": draw.normal(keys, 3), "dim": 3, "size": 2 * keys - 1, "batches": [keys]},
    asks=("loops",),
    scenario=fill,
    hints={"keys": "find the rows of all keys first, then write them at once"},
)
OTHER_KEYS = [((4, 5), key, (6, 5)) for key in ((3, 5), (4, 6), (1, 5), (4, 1), (5,))]
OTHER_QUERIES = [((1, 5), (4, 5), (6, 5)), ((4, 1), (4, 5), (6, 1)), ((4, 1), (4, 5), (6, 5))]
OTHER_RANKS = [((5,), (5,), (6, 5)), ((2, 3, 5), (2, 3, 5), (6, 5)), ((2, 6, 5), (2, 6, 5), (2, 6, 5))]
OTHER_QUEUES = [((4, 5), (4, 5), queue) for queue in ((6, 4), (6, 1), (5, 6), (5,), (1, 6, 5), (4, 6, 5))]
OTHER_WIDTHS = [((4, 1), (4, 1), (6, 5)), ((5, 5), (5, 5), (5, 4))]
OTHER_SHAPES = ((2, 4), (2, 1), (2, 2), (1, 4), (3,), (4,), (1,), (2, 2, 3), (1, 4, 3))
NUMBERS = [
    {"keys": k, "queries": q, "generators": generators, "m": 0.8}
    for k, q in ((3, 2), (1, 0), (2, 3), (0, 1), (1, 4))
    for generators in (False, True)
]
LEARNING = [
    {"of_key": k, "of_query": q, "enabled": enabled}
    for k, q, enabled in ((False, False, True), (False, True, True), (True, False, True), (True, True, False))
]
LEARNING.append(LEARNING[0] | {"m": 0})  # at which the key's parameters only become equal to the query's
robust = partial(Case, category="robustness")
alone = partial(Case, dtypes=(torch.float64,))
moved = partial(alone, scenario=move)
filled = partial(Case, dtypes=(torch.float32,), scenario=fill)
LOSS = (
    Case("four_queries", lambda draw: views(draw, 4, 5, 7)),
    Case("sizes", sizes),
    Case("temperatures", at(0.05, 0.07, 0.5, 1, 2.0, 50.0)),
    Case("special_angles", special_angles),
    alone("query_as_key", lambda draw: {"query": draw.normal(4, 5), "queue": draw.normal(3, 5)}, scenario=same_tensor),
    robust("uneven_lengths", uneven_lengths, tolerance=WITH_EPS),
    robust("small_temperature", small_temperature, tolerance=two_views.THOUSANDFOLD),
    robust("small_temperature_in_half", partial(small_temperature, t=0.05), dtypes=HALF),
    robust(
        "tiny_temperature_in_half",
        small_temperature,
        gradients="finite",
        dtypes=HALF,
        tolerance=two_views.rounded_at(1e-3),
    ),
    robust("norm_fits_float16", long_rows, dtypes=(torch.float16,)),
    Case("key_of_another_shape", shaped(*OTHER_KEYS, *OTHER_QUERIES, *OTHER_RANKS), raises=ValueError),
    Case("queue_of_another_shape", shaped(*OTHER_QUEUES, *OTHER_WIDTHS), raises=ValueError),
    Case("temperature_not_above_0", at(0.0, 0, -0.1, -2), raises=ValueError),
)
UPDATE = (
    Case("every_shape", every_shape, scenario=move),
    # k is about 0 and q about 1000: the step is about 1, and lost where 1 - m is rounded.
    Case("small_steps_in_half", small_steps, dtypes=HALF, scenario=move, core=False),
    moved("generators", pairs({"generators": True, "m": 0.8})),
    alone("parameters_stay_what_they_are", pairs(*LEARNING), scenario=move_parameters),
    moved("m_outside_0_to_1", pairs(*({"m": m} for m in (-0.1, -1e-3, -1, 1.1, 1.001, 2))), raises=ValueError),
    moved("different_numbers", pairs(*NUMBERS), raises=ValueError),
)
QUEUE = (
    filled("round_the_end", round_the_end),
    filled(
        "oversized_batches",
        batches((3, 4, [7, 1, 2]), (3, 4, [3, 4, 5, 6, 7, 1]), (2, 4, [1, 41, 2]), (2, 3, [200, 70, 2])),
        core=False,
    ),
    filled("row_written_twice", batches((3, 4, [2, 7, 9])), scenario=rows_named, core=False),
    filled("one_row_or_column", batches((3, 1, [1, 4, 1]), (1, 3, [2, 2, 5])), core=False),
    filled("copied_and_detached", batches(*((3, 4, [B]) for B in (3, 4, 6))), scenario=fill_and_overwrite, core=False),
    filled("two_queues", lambda draw: {"keys": draw.normal(6, 3)}, scenario=fill_two),
    filled("batch_of_another_shape", lambda draw: [misfit(draw, *shape) for shape in OTHER_SHAPES], raises=ValueError),
)
GRADER = Grader(
    answers=(
        Answer(
            "moco_loss(query, key, queue, temperature=0.07)",
            oracle=loss_oracle,
            differentiable=("query", "key", "queue"),  # the oracle detaches two of them
            tolerance=ROUNDED,
            budgets=(BUDGET,),
            cases=LOSS,
        ),
        Answer(
            "momentum_update_(key_params, query_params, m=0.999)",
            oracle=update_oracle,
            tolerance=last_places(4, absolute=2),  # a single number may be a small sum of larger ones
            cases=UPDATE,
        ),
        Answer(
            "class FeatureQueue(dim, size)",
            oracle=QueueOracle,
            methods=("enqueue(keys)",),
            half=False,
            budgets=(KEYS_BUDGET,),
            cases=QUEUE,
        ),
    ),
)
