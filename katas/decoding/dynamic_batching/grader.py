"""What is checked of serve."""

from collections.abc import Callable
from functools import partial

import torch

from graders.kata import Answer, Arguments, Case, Draw, Grader, Inputs

Step = Callable[[list[list[int]]], list[int]]
Request = tuple[list[int], int, list[list[int]]]


def has_ended(tokens: list[int], max_tokens: int, stop: list[list[int]]) -> bool:
    return len(tokens) >= max_tokens or any(tokens[max(len(tokens) - len(s), 0) :] == s for s in stop)


def in_slots(requests: list[Request], capacity: int, step: Step) -> list[list[int]]:
    """A list of slots, each with the index of a request or None."""
    assert capacity >= 1
    assert all(max_tokens >= 0 and all(stop) for _, max_tokens, stop in requests)
    made: list[list[int]] = [[] for _ in requests]
    coming = iter([i for i, request in enumerate(requests) if request[1]])
    slots: list[int | None] = [None] * capacity
    while True:
        slots = [next(coming, None) if i is None else i for i in slots]
        live = [i for i in slots if i is not None]
        if not live:
            return made
        for i, token in zip(live, step([requests[i][0] + made[i] for i in live]), strict=True):
            made[i].append(token)
        slots = [None if i is None or has_ended(made[i], *requests[i][1:]) else i for i in slots]


# Scenarios. The next token is a hash of the whole text, by numbers that the seed draws.


def served(serve, prompts, max_tokens, stops, capacity, tokens, salt, same=False):
    """The texts of each call are sorted, since any may stand in any slot."""
    calls, known = [], {}

    def step(texts):
        calls.append(sorted([*text] for text in texts))
        if len(calls) > 300:
            raise RuntimeError("step should not be called more than 300 times for these requests")
        made = []
        for text in texts:
            state = salt
            for token in text:
                state = (31 * state + 7 * token + 11) % 10007
            made.append(state % tokens)
        return made

    requests = list(zip(prompts, max_tokens, stops, strict=True))
    if same:  # equal requests are one object
        requests = [known.setdefault(repr(one), one) for one in requests]
    return {"generated": serve(requests, capacity, step), "calls": calls}


def looked_at_later(serve, prompts, max_tokens, stops, capacity, tokens):
    """The caller's lists, and all that step got, once serve has returned."""
    got, copies = [], []

    def step(texts):
        got.append(texts)
        copies.append([[*text] for text in texts])
        if len(copies) > 300:
            raise RuntimeError("step should not be called more than 300 times for these requests")
        return [(3 * sum(text) + len(text)) % tokens for text in texts]

    requests = list(zip(prompts, max_tokens, stops, strict=True))
    before = repr(requests)
    generated = serve(requests, capacity, step)
    return {
        "generated": generated,
        "requests are the same": repr(requests) == before,
        "texts are the same": [[[*text] for text in texts] for texts in got] == copies,
    }


def changed_by_step(serve, prompts, max_tokens, stops, capacity, tokens):
    """After it has read the texts, step appends to each of them."""
    count = []

    def step(texts):
        count.append(len(texts))
        if len(count) > 300:
            raise RuntimeError("step should not be called more than 300 times for these requests")
        made = [(3 * sum(text) + len(text)) % tokens for text in texts]
        for text, token in zip(texts, made, strict=True):
            text += [token, 99]
        return made

    requests = list(zip(prompts, max_tokens, stops, strict=True))
    before = repr(requests)
    generated = serve(requests, capacity, step)
    return {"generated": generated, "requests are the same": repr(requests) == before}


def interrupted(serve, prompts, max_tokens, stops, capacity, tokens, error, at):
    """The call of this number raises. After that, serve is called again."""
    errors = {"StopIteration": StopIteration(3), "KeyError": KeyError(3), "ValueError": ValueError("full")}
    raised, count = errors[error], []

    def step(texts):
        count.append(len(texts))
        if len(count) == at:
            raise raised
        if len(count) > 300:
            raise RuntimeError("step should not be called more than 300 times for these requests")
        return [(3 * sum(text) + len(text)) % tokens for text in texts]

    requests = list(zip(prompts, max_tokens, stops, strict=True))
    try:
        came = f"a result: {serve(requests, capacity, step)}"
    except Exception as caught:
        came = "the error of step" if caught is raised else f"another {type(caught).__name__}"
    calls = len(count)
    return {"what came out": came, "calls of step": calls, "generated afterwards": serve(requests, capacity, step)}


# Inputs


def token_of(text: list[int], tokens: int, salt: int) -> int:
    """As `served` has it."""
    state = salt
    for token in text:
        state = (31 * state + 7 * token + 11) % 10007
    return state % tokens


def alone(prompt: list[int], max_tokens: int, stop: list[list[int]], tokens: int, salt: int) -> list[int]:
    return in_slots([(prompt, max_tokens, stop)], 1, lambda texts: [token_of(texts[0], tokens, salt)])[0]


def numbers(draw: Draw, length: int, high: int) -> list[int]:
    found: list[int] = draw.integers(length, high=high).tolist()
    return found


def batch(
    draw: Draw, n: int, capacity: int, tokens: int = 0, stop: str = "", most: int = 9, **more: object
) -> Arguments:
    """Requests for at least one token, all of different prompts.

    `stop` says which sequences end them: "generated", those that occur in what would be generated; "several", three of
    them; "in the prompt", some that the prompt ends with, or that end in the first token behind it; "broken off",
    a, a, b in a, a, a, b; "digits", 1, 2 where 12 is generated.
    """
    tokens, salt = tokens or draw.size(5, 12), draw.size(1, 10006)
    given: Arguments = {"prompts": [], "max_tokens": [], "stops": []}
    while len(given["prompts"]) < n:
        prompt, limit = numbers(draw, draw.size(1, 5), tokens), draw.size(1, most)
        if prompt in given["prompts"]:
            continue
        text = alone(prompt, limit, [], tokens, salt)
        start = draw.size(0, len(text) - 1)
        runs = [
            text[k + 1 : k + 4] for k in range(len(text) - 3) if text[k] == text[k + 1] == text[k + 2] != text[k + 3]
        ]
        digits = [[token // 10, token % 10] for token in text if token >= 10]
        if (stop, runs) == ("broken off", []) or (stop, digits) == ("digits", []):
            continue
        found = {
            "": [],
            "broken off": runs,
            "digits": digits,
            "generated": [text[start : start + draw.size(1, 3)]] * draw.size(0, 1) + [numbers(draw, 2, tokens)],
            "several": [numbers(draw, 3, tokens), text[start : start + 2], numbers(draw, draw.size(2, 12), tokens)],
            "in the prompt": [prompt[-draw.size(1, 2) :], prompt[-1:] + text[:1]],
        }[stop]
        for column, value in zip(given, (prompt, limit, found), strict=True):
            given[column].append(value)
    return given | {"capacity": capacity, "tokens": tokens, "salt": salt} | more


def ask(*made: Arguments, **options: object) -> Inputs:
    """Batches of such sizes; a size may be a pair, between which the seed draws."""

    def inputs(draw: Draw) -> list[Arguments]:
        drawn = [
            {name: draw.size(*one) if isinstance(one, tuple) else one for name, one in each.items()} for each in made
        ]
        return [batch(draw, **(options | one)) for one in drawn]

    return inputs


def nothing_to_generate(draw: Draw) -> list[Arguments]:
    """Some requests, or all, are for no token at all, even if a stop sequence is what the prompt ends with."""
    made = []
    for zeros in ([0, 1], [2, 3, 4, 7], [*range(8)]):
        one = batch(draw, 8, 3, stop="in the prompt")
        made.append(one | {"max_tokens": [0 if i in zeros else limit for i, limit in enumerate(one["max_tokens"])]})
    return [*made, batch(draw, 0, 3)]


def empty_prompts(draw: Draw) -> Arguments:
    made = batch(draw, 7, 3, stop="generated")
    return made | {"prompts": [[] if i in (0, 2, 5) else prompt for i, prompt in enumerate(made["prompts"])]}


def equal_requests(draw: Draw) -> list[Arguments]:
    """Three of each, one behind the other or at the ends; equal prompts whose limits differ."""
    one, other, third = (batch(draw, 3, capacity, stop="generated", same=True) for capacity in (2, 4, 3))
    columns = ("prompts", "max_tokens", "stops")
    tripled = one | {name: [value for value in one[name] for _ in range(3)] for name in columns}
    repeated = other | {name: other[name] * 3 for name in columns}
    limits = [draw.size(1, 9) for _ in range(9)]
    return [tripled, repeated, third | {name: third[name] * 3 for name in columns} | {"max_tokens": limits}]


def plain(draw: Draw, n: int, capacity: int, **options: object) -> Arguments:
    """For scenarios with a simpler model."""
    made = batch(draw, n, capacity, stop="generated", most=5)
    del made["salt"]
    return made | options


def interruptions(draw: Draw) -> list[Arguments]:
    errors = ("StopIteration", "KeyError", "ValueError")
    return [plain(draw, 6, 2, error=error, at=at) for error, at in zip(errors, (draw.size(2, 4), 1, 3), strict=True)]


def bad_arguments(draw: Draw) -> list[Arguments]:
    """The capacity, or one request of several, even one that needs no call; and a capacity without requests."""
    fine = batch(draw, 4, 2)
    none: Arguments = {"prompts": [], "max_tokens": [], "stops": []}
    made = [fine | {"capacity": capacity} for capacity in (0, -1)] + [fine | none | {"capacity": 0}]
    for place in (0, 2, 3):
        made += [fine | {"max_tokens": [*fine["max_tokens"][:place], -1, *fine["max_tokens"][place + 1 :]]}]
        for stop in ([[]], [[1, 2], []]):
            one = fine | {"stops": [*fine["stops"][:place], stop, *fine["stops"][place + 1 :]]}
            made += [one, one | {"max_tokens": [0 if i == place else 2 for i in range(4)]}]
    return made


case = partial(Case, dtypes=(torch.float64,), scenario=served)
robust = partial(Case, dtypes=(torch.float64,), category="robustness")
MANY: Arguments = {"n": (8, 16), "capacity": (2, 5)}
BROKEN_OFF: Arguments = {"tokens": 2, "most": 20, "stop": "broken off"}
DIGITS: Arguments = {"tokens": (30, 60), "stop": "digits"}
GRADER = Grader(
    answers=(
        Answer(
            "serve(requests, capacity, step)",
            oracle=in_slots,
            half=False,
            cases=(
                case("two_slots", ask({"n": 4, "capacity": 2, "most": 4}, {"n": 7, "capacity": 2})),
                case("any_sizes", ask(MANY, MANY, MANY)),
                case(
                    "one_slot_or_many", ask(MANY | {"capacity": 1}, {"n": 6, "capacity": 6}, {"n": 5, "capacity": 50})
                ),
                case("stop_sequences", ask(MANY, MANY, MANY | BROKEN_OFF, stop="generated")),
                case("several_stops", ask(MANY, MANY, MANY | DIGITS, stop="several")),
                case("stops_and_prompts", ask(MANY, MANY, MANY, stop="in the prompt")),
                case("nothing_to_generate", nothing_to_generate, core=False),
                case("empty_prompts", empty_prompts, core=False),
                case("equal_requests", equal_requests, core=False),
                robust("looked_at_later", lambda draw: plain(draw, 6, 3), scenario=looked_at_later),
                robust("changed_by_step", lambda draw: plain(draw, 6, 3), scenario=changed_by_step),
                robust("step_raises", interruptions, scenario=interrupted),
                case("bad_arguments", bad_arguments, raises=ValueError),
            ),
        ),
    ),
)
