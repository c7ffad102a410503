"""What is checked of ShardedLoader."""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch

from graders.kata import Answer, Arguments, Case, Draw, Grader, Submission


class Right:
    """Makes all batches of an epoch in one list, by the definition, and counts the samples that were handed out."""

    def __init__(
        self,
        length: int,
        batch_size: int,
        rank: int = 0,
        world_size: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        assert length >= 0
        assert batch_size >= 1
        assert rank in range(world_size)
        self.known = [length, seed, batch_size, world_size]
        self.rank, self.shuffle, self.drop_last = rank, shuffle, drop_last
        self.epoch, self.samples, self.goes_on = 0, 0, False

    def batches(self) -> list[list[int]]:
        length, seed, size, world = self.known
        order = list(range(length))
        if self.shuffle:
            order = random.Random(seed * 2**40 + self.epoch).sample(order, length)
        if self.drop_last:
            order = order[: length - length % world]
        start = [*order]
        while len(order) % world:
            order += start[: world - len(order) % world]
        mine = order[self.rank :: world]
        made = [mine[i : i + size] for i in range(0, len(mine), size)]
        return [one for one in made if len(one) == size or not self.drop_last]

    def __len__(self) -> int:
        return len(self.batches())

    def __iter__(self) -> Iterator[list[int]]:
        self.samples, self.goes_on = self.samples * self.goes_on, False
        size = self.known[2]
        for batch in self.batches()[self.samples // size :]:
            self.samples += size
            yield batch

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch, self.samples, self.goes_on = epoch, 0, False

    def state_dict(self) -> dict[str, Any]:
        return {"known": [*self.known], "epoch": self.epoch, "samples": self.samples}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        assert state["known"] == self.known
        self.epoch, self.samples, self.goes_on = state["epoch"], state["samples"], True


# Scenarios. A right order is any function of length, seed and epoch. So indices are told by their places in the order
# that a loader for one rank and batches of one gives; and batches after a restart by their numbers in the whole epoch.


def in_order(ShardedLoader, length, batch_size, world_size, drop_last):
    """Without shuffling the indices are known."""
    found = {}
    for rank in range(world_size):
        loader = ShardedLoader(length, batch_size, rank, world_size, shuffle=False, drop_last=drop_last)
        found[f"batches of rank {rank}"] = [*loader]
        found[f"len on rank {rank}"] = len(loader)
    return found


def shared(ShardedLoader, length, batch_size, world_size, seed, epoch, drop_last):
    alone = ShardedLoader(length, 1, seed=seed)
    alone.set_epoch(epoch)
    order = [index for batch in alone for index in batch]
    place = {index: n for n, index in enumerate(order)}
    found = {"the epoch's indices, sorted": sorted(order)}
    for rank in range(world_size):
        loader = ShardedLoader(length, batch_size, rank, world_size, seed=seed, drop_last=drop_last)
        loader.set_epoch(epoch)
        places = [[place.get(index, -1) for index in batch] for batch in loader]
        flat = [one for batch in places for one in batch]
        falls = sum(flat[n] < flat[n - 1] for n in range(1, len(flat)))
        found[f"places of rank {rank}"] = places if falls < 2 else [["they do not rise"]]
        found[f"len on rank {rank}"] = len(loader)
    return found


def orders(ShardedLoader, length, seed, epoch):
    """The orders of one epoch, of others, of another seed; and how many indices stay behind the one before them."""

    def order(loader):
        return [index for batch in loader for index in batch]

    loader, again = ShardedLoader(length, 4, seed=seed), ShardedLoader(length, 4, seed=seed)
    at_first = order(loader)
    loader.set_epoch(epoch)
    other = order(loader)
    loader.set_epoch(0)
    back = order(loader)
    again.set_epoch(epoch)
    another_seed = ShardedLoader(length, 4, seed=seed + 1)
    first_of_another_seed = order(another_seed)
    another_seed.set_epoch(epoch)
    return {
        "epoch 0 has another order than the next one": at_first != other,
        "epoch 0 has its order again later": at_first == back,
        "a second loader has the same order": other == order(again),
        "another seed has another order": other != order(another_seed),
        "another seed has another order in epoch 0": at_first != first_of_another_seed,
        "neighbours stay neighbours": sum(other[n] == other[n - 1] + 1 for n in range(1, length)) > length // 4,
    }


def resumed(ShardedLoader, length, batch_size, rank, world_size, seed, epoch, drop_last, taken):
    """The state goes through json. Of the loaders that it is loaded into, two are told an epoch."""
    json, options = __import__("json"), {"seed": seed, "drop_last": drop_last}

    def loader(number=None, state=None):
        made = ShardedLoader(length, batch_size, rank, world_size, **options)
        if state is not None:
            made.load_state_dict(json.loads(state))
        if number is not None:
            made.set_epoch(number)
        return made

    wholes = [[repr(batch) for batch in loader(epoch + n)] for n in (0, 1)]

    def numbers(batches, n=0):
        return [wholes[n].index(one) if one in wholes[n] else -1 for one in map(repr, batches)]

    first, before = loader(epoch), []
    batches = iter(first)
    for _ in range(taken):
        before.append(next(batches))
    state = json.dumps(first.state_dict(), sort_keys=True)
    after = [*batches]
    second = loader(None, state)
    saved_again = json.dumps(second.state_dict(), sort_keys=True)
    rest = [*second]
    later = [*second]
    return {
        "batches before saving": numbers(before),
        "batches after saving": numbers(after),
        "batches after loading": numbers(rest),
        "the state saved again is the same": saved_again == state,
        "batches of the iteration after that": max(numbers(later), numbers(later, 1)),
        "batches after loading and set_epoch of the same": numbers(loader(epoch, state)),
        "batches after loading and set_epoch of the next": numbers(loader(epoch + 1, state), 1),
        "len after loading": len(loader(None, state)),
    }


def broken_off(ShardedLoader, length, batch_size, seed, taken):
    """By break. The same loader iterates again, and is sent back to the state that it saved."""
    json, wholes = __import__("json"), []
    loader = ShardedLoader(length, batch_size, seed=seed)
    for epoch in (0, 1):
        loader.set_epoch(epoch)
        wholes.append([repr(batch) for batch in loader])

    def numbers(batches, epoch=0):
        return [wholes[epoch].index(one) if one in wholes[epoch] else -1 for one in map(repr, batches)]

    loader = ShardedLoader(length, batch_size, seed=seed)
    for number, _ in enumerate(loader, start=1):
        if number == taken:
            break
    text = json.dumps(loader.state_dict())
    loader.set_epoch(1)
    begun = ShardedLoader(length, batch_size, seed=seed)
    begun.load_state_dict(json.loads(json.dumps(loader.state_dict())))
    after = numbers(loader, 1)
    loader.load_state_dict(json.loads(text))
    loaded = numbers(loader)
    loader.set_epoch(1)
    loader.set_epoch(0)
    whole = numbers(loader)
    loader.load_state_dict(json.loads(text))
    loader.set_epoch(0)
    kept = ShardedLoader(length, batch_size, seed=seed)
    kept.load_state_dict(json.loads(json.dumps(loader.state_dict())))
    loader = ShardedLoader(length, batch_size, seed=seed)
    next(iter(loader))
    anew, loader = [*loader], ShardedLoader(length, batch_size, seed=seed)
    list(loader)
    for number, _ in enumerate(loader, start=1):
        if number == taken:
            break
    second = ShardedLoader(length, batch_size, seed=seed)
    second.load_state_dict(json.loads(json.dumps(loader.state_dict())))
    rest = [*second]
    return {
        "batches of the next epoch": after,
        "batches of the next epoch, if the state is saved after set_epoch, and loaded": numbers(begun, 1),
        "batches after loading": loaded,
        "batches of the first epoch, later": whole,
        "batches after loading, set_epoch of the same, saving and loading": numbers(kept),
        "batches of another iteration after a break": max(numbers(anew), numbers(anew, 1)),
        "batches after a break in a further iteration, saving and loading": max(numbers(rest), numbers(rest, 1)),
    }


def of_all_ranks(ShardedLoader, length, batch_size, world_size, seed, taken):
    """Each rank saves, and goes on; the state of the last rank is loaded on all."""
    json, states, found, wholes, changed = __import__("json"), [], {}, [], 0
    for rank in range(world_size):
        loader = ShardedLoader(length, batch_size, rank, world_size, seed=seed)
        batches = iter(loader)
        whole = [next(batches) for _ in range(taken)]
        state = loader.state_dict()
        states.append(json.dumps(state, sort_keys=True))
        wholes.append([*whole, *batches])
        changed += json.dumps(state, sort_keys=True) != states[-1]
    found["states that changed later"] = changed
    found["ranks whose state is the last rank's"] = sum(one == states[-1] for one in states)
    for rank, whole in enumerate(wholes):
        loader = ShardedLoader(length, batch_size, rank, world_size, seed=seed)
        loader.load_state_dict(json.loads(states[-1]))
        found[f"batches after loading on rank {rank}"] = [whole.index(one) if one in whole else -1 for one in loader]
    return found


def apart_from_others(ShardedLoader, length, batch_size, seed):
    """Between two iterations, and before them, others use the global generators of torch and Python."""
    random = __import__("random")
    torch.manual_seed(1), random.seed(1)
    wanted = [torch.rand(1).item(), random.random()]
    found = []
    for number in (1, 2):
        torch.manual_seed(number), random.seed(number)
        loader = ShardedLoader(length, batch_size, seed=seed)
        loader.set_epoch(3)
        torch.manual_seed(1), random.seed(1)
        batches = iter(loader)
        found.append([next(batches)])
        drawn = [torch.rand(1).item(), random.random()]
        found[-1] += batches
    return {"both loaders have the same order": found[0] == found[1], "what others draw is the same": drawn == wanted}


def in_another_process(ShardedLoader, length, batch_size, seed):
    """Where hash gives other numbers for texts."""
    builtins, right = __import__("builtins"), hash

    def other(value):
        parts = value if isinstance(value, tuple) else (value,)
        return right((value, 7)) if any(isinstance(part, str | bytes) for part in parts) else right(value)

    orders = []
    try:
        for builtins.hash in (right, other):
            loader = ShardedLoader(length, batch_size, seed=seed)
            loader.set_epoch(2)
            orders.append([*loader])
    finally:
        builtins.hash = right
    return {"both processes have the same order": orders[0] == orders[1]}


def saved(ShardedLoader, length, taken):
    """How long the state is, written by json."""
    loader = ShardedLoader(length, 2)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    return len(__import__("json").dumps(loader.state_dict()))


def constructed(ShardedLoader, length, batch_size, rank, world_size):
    ShardedLoader(length, batch_size, rank, world_size)


def loaded_elsewhere(ShardedLoader, names, values, others, taken):
    """The state of one loader is loaded into another one, of which one argument is another."""
    loader = ShardedLoader(**dict(zip(names, values, strict=True)))
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    ShardedLoader(**dict(zip(names, others, strict=True))).load_state_dict(loader.state_dict())


# Inputs


def sizes(draw: Draw, length: int, batch_size: int, world_size: int, **more: Any) -> Arguments:
    made = {"length": length, "batch_size": batch_size, "world_size": world_size}
    return made | {"seed": draw.size(0, 10**6), "epoch": draw.size(1, 1000), "drop_last": False} | more


def both(made: list[Arguments]) -> list[Arguments]:
    return [one | {"drop_last": drop_last} for one in made for drop_last in (False, True)]


def known(draw: Draw) -> list[Arguments]:
    """Shares and batches that fit, that do not, and in part: what is dropped or padded differs in each."""
    asked = [(10, 3, 1), (12, 2, 3), (11, 2, 3), (draw.size(30, 60), draw.size(3, 7), draw.size(2, 5))]
    made = [dict(zip(("length", "batch_size", "world_size"), one, strict=True)) for one in asked]
    return both(made)


def any_shares(draw: Draw) -> list[Arguments]:
    asked = ((draw.size(36, 60), draw.size(2, 8), draw.size(2, 4)) for _ in range(3))
    return both([sizes(draw, *one) for one in asked])


def few_samples(draw: Draw) -> list[Arguments]:
    """Fewer than ranks, or than a batch has."""
    asked = [(2, 3, draw.size(5, 9)), (1, 1, 4), (3, draw.size(4, 9), 2), (5, 2, 4)]
    return both([dict(zip(("length", "batch_size", "world_size"), one, strict=True)) for one in asked])


def no_samples(draw: Draw) -> list[Arguments]:
    return both([sizes(draw, 0, 3, world_size) for world_size in (1, 3)])


def places(draw: Draw) -> list[Arguments]:
    """After one batch, in the middle, and before the last of five or, where one that is not full is dropped, four."""
    made = []
    for drop_last in (False, True):
        for taken in (1, 2, 4 - drop_last):
            length, world_size = draw.size(37, 39), draw.size(1, 2)
            one = sizes(draw, length * world_size, 8, world_size, rank=world_size - 1, drop_last=drop_last)
            made.append(one | {"taken": taken})
    return made


def ends(draw: Draw) -> list[Arguments]:
    """Before the first batch, after the last, and in an epoch without any."""
    made = [sizes(draw, 21, 4, 1, rank=0, taken=taken) for taken in (0, 6)]
    return [*made, sizes(draw, 22, 4, 2, rank=1, taken=2, drop_last=True), sizes(draw, 0, 4, 1, rank=0, taken=0)]


def all_ranks(draw: Draw) -> Arguments:
    made = {"length": draw.size(30, 40), "batch_size": 3, "world_size": 3}
    return made | {"seed": draw.size(0, 99), "taken": draw.size(1, 2)}


def bad_arguments(draw: Draw) -> list[Arguments]:
    names = ("length", "batch_size", "rank", "world_size")
    asked = [(-1, 4, 0, 1), (-9, 4, 0, 2), (10, 0, 0, 1), (10, -2, 0, 1), (0, 0, 0, 1)]
    asked += [(10, 4, rank, world_size) for rank, world_size in ((-1, 2), (2, 2), (3, 2), (1, 1), (0, 0))]
    return [dict(zip(names, one, strict=True)) for one in asked]


def states_of_others(draw: Draw) -> list[Arguments]:
    """Also if nothing was handed out yet, and if shares are as large as before."""
    names = ["length", "batch_size", "rank", "world_size", "seed"]
    values = [draw.size(40, 60) * 2, draw.size(3, 5), 0, 2, draw.size(5, 99)]
    changed = ((0, values[0] - 1), (0, values[0] + 2), (1, values[1] + 1), (3, 3), (3, 1), (4, values[4] + 1), (4, 0))
    others = [[value if n == place else old for n, old in enumerate(values)] for place, value in changed]
    return [{"names": names, "values": values, "others": one, "taken": taken} for one in others for taken in (3, 0)]


case = partial(Case, dtypes=(torch.float64,))
robust = partial(case, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class ShardedLoader(length, batch_size, rank=0, world_size=1, shuffle=True, seed=0, drop_last=False)",
            oracle=Right,
            methods=("__iter__()", "__len__()", "set_epoch(epoch)", "state_dict()", "load_state_dict(state)"),
            half=False,
            cases=(
                case("in_order", known, scenario=in_order),
                case("any_shares", any_shares, scenario=shared),
                case(
                    "orders",
                    lambda draw: [
                        {"length": draw.size(30, 60), "seed": seed, "epoch": draw.size(1, 9)}
                        for seed in (draw.size(1, 99), 0)
                    ],
                    scenario=orders,
                ),
                case("resumed", places, scenario=resumed),
                case("few_samples", few_samples, scenario=in_order, core=False),
                case("no_samples", no_samples, scenario=shared, core=False),
                case("first_and_last_places", ends, scenario=resumed, core=False),
                robust(
                    "broken_off",
                    lambda draw: {"length": 25, "batch_size": 4, "seed": draw.size(0, 99), "taken": draw.size(2, 5)},
                    scenario=broken_off,
                ),
                robust(
                    "of_all_ranks",
                    all_ranks,
                    scenario=of_all_ranks,
                ),
                robust(
                    "apart_from_others",
                    lambda draw: {"length": draw.size(20, 40), "batch_size": 4, "seed": draw.size(0, 99)},
                    scenario=apart_from_others,
                ),
                robust(
                    "in_another_process",
                    lambda draw: {"length": draw.size(20, 40), "batch_size": 4, "seed": draw.size(0, 99)},
                    scenario=in_another_process,
                ),
                case("bad_arguments", bad_arguments, scenario=constructed, raises=ValueError),
                case("states_of_others", states_of_others, scenario=loaded_elsewhere, raises=ValueError),
            ),
        ),
    ),
    banned=("sampler", "distributed", "dataloader", "dataset"),
)


@pytest.mark.robustness
def test_the_state_stays_small(submission: Submission) -> None:
    for taken in (0, 1000):
        found = submission.run(saved, summary=lambda length: length > 1000, length=100_000, taken=taken)
        assert not found, f"characters of the state after {taken} of 50,000 batches: should be at most 1,000, got more"
