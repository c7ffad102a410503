"""Simpler inputs of a call, made from its own: what the smallest failing call is looked for among."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer
from graders.sandbox.messages import Request, floating

ROUNDING = 1e-6  # of a sum that should be 1
UNIFORM: tuple[Callable[[Tensor], Tensor], ...] = (torch.ones_like, torch.zeros_like)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a call gives, floating tensors in float64: its arguments, the constructor's, the module's parameters."""

    arguments: Mapping[str, Any]
    init: Mapping[str, Any]
    parameters: Mapping[str, Tensor]

    @property
    def values(self) -> list[Any]:
        return [value for part in vars(self).values() for value in part.values()]

    @property
    def numbers(self) -> int:
        """How many there are in all; each character of a text is one."""
        return sum(map(count, self.values))

    @property
    def complexity(self) -> tuple[int, int, float]:
        """How many numbers there are, how much there is to write, and how large they are."""
        different = {number for value in self.parameters.values() for number in value.flatten().tolist()}
        return self.numbers, sum(map(length, self.values)) + len(different), sum(map(magnitude, self.values))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of axes, lists and texts, and whole numbers that may say so."""
        return tuple(size for value in self.values for size in sizes_of(value))

    def each(self, make: Callable[[Any], Any]) -> Inputs:
        return Inputs(*({name: make(value) for name, value in part.items()} for part in vars(self).values()))

    def with_one(self, part: str, name: str, value: Any) -> Inputs:
        return replace(self, **{part: {**getattr(self, part), name: value}})

    def nearby(self, by: float) -> Inputs:
        """With slightly other numbers, of which no two are equal."""
        generator = torch.Generator().manual_seed(1)

        def moved(value: Any) -> Any:
            if not is_floating(value):
                return value
            noise = torch.randn(value.shape, generator=generator, dtype=value.dtype)
            return value + by * noise * (1 + value.abs().nan_to_num(0, 0, 0))

        return self.each(moved)


Step = Callable[[Inputs], Iterator[Inputs]]


def inputs_of(request: Request) -> Inputs:
    given = request.arguments or {}, request.constructor_arguments or {}, request.parameters
    exact = (floating(part, torch.float64) for part in given)
    return Inputs(*exact).each(lambda value: value.detach() if isinstance(value, Tensor) else value)


def is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def count(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    return sum(map(count, value)) if isinstance(value, list | tuple) else len(value) if isinstance(value, str) else 1


def length(value: Any) -> int:
    """Of what is written for it, in characters, and of different numbers besides."""
    if isinstance(value, Tensor):
        written = [f"{number:g}" for number in value.flatten().tolist()]
        return sum(map(len, written)) + len({*written})
    return len(f"{value:g}" if type(value) is float else str(value))


def magnitude(value: Any) -> float:
    if isinstance(value, Tensor):
        return float(value.double().nan_to_num(0, 0, 0).abs().sum())
    return abs(value) if isinstance(value, int | float) else 0


def sizes_of(value: Any) -> list[int]:
    if isinstance(value, Tensor):
        return [*value.shape]
    if isinstance(value, list | tuple):
        return [len(value), *(size for item in value for size in sizes_of(item))]
    return [len(value)] if isinstance(value, str) else [value] if type(value) is int else []


def like_at_first(first: Inputs, made: Inputs) -> Inputs:
    """With probabilities that add up to 1 again, and positive numbers wherever all of them were."""

    def again(one: Any, value: Any) -> Any:
        if not is_floating(one):
            return value
        value = value.where(value > 0, 1) if (one > 0).all() else value
        for axes in [*((axis,) for axis, size in enumerate(one.shape) if size > 1), (*range(one.dim()),)]:
            if ((one.sum(axes) - 1).abs() < ROUNDING).all():
                value = value / value.sum(axes, keepdim=True)
        return value

    parts = vars(made).items()
    return Inputs(
        *({name: again(getattr(first, kind)[name], one) for name, one in part.items()} for kind, part in parts)
    )


def steps(answer: Answer) -> tuple[Step, ...]:
    """One after the other; each makes simpler inputs of others, the simplest first."""
    return (
        functools.partial(without_defaults, answer),
        functools.partial(smaller, answer),
        functools.partial(lower, answer),
        alike,
        plainer,
        plainer_numbers,
    )


def without_defaults(answer: Answer, inputs: Inputs) -> Iterator[Inputs]:
    """Without one argument that has a default."""
    for part, signature in ("arguments", answer.forward or answer.signature), ("init", answer.signature):
        given = getattr(inputs, part)
        for name in given:
            if parameters_of(signature).get(name, ...) is not ...:
                yield replace(inputs, **{part: {other: value for other, value in given.items() if other != name}})


def smaller(answer: Answer, inputs: Inputs) -> Iterator[Inputs]:
    """With shorter axes. All that can be 1 comes first: of two that are 2, nobody can tell any more which is which."""
    tried = set()
    for shorten in (lambda size: 1), (lambda size: 2), (lambda size: size // 2), (lambda size: size - 1):
        for size in sorted({size for size in inputs.sizes if size > shorten(size) > 0}, reverse=True):
            for back in (False, True):
                shorter = functools.partial(cut, size=size, to=shorten(size), back=back)
                made = fitted(answer, replace(inputs.each(shorter), parameters=inputs.parameters))
                if made and (made.sizes, back) not in tried:
                    tried.add((made.sizes, back))
                    yield made


def cut(value: Any, size: int, to: int, back: bool) -> Any:
    """All axes, lists, texts and whole numbers of that size get another one, from the front or the back.

    Labels below it stay below.
    """
    if isinstance(value, Tensor):
        for axis, length in enumerate(value.shape):
            value = value.narrow(axis, size - to if back else 0, to) if length == size else value
        if value.dtype == torch.int64 and value.numel() and to <= value.max() < size:
            value = value.clamp(max=to - 1)
    elif isinstance(value, str | list | tuple):
        value = value if len(value) != size else value[-to:] if back else value[:to]
        if not isinstance(value, str):
            value = type(value)(cut(item, size, to, back) for item in value)
    return to if type(value) is int and value == size else value


def fitted(answer: Answer, inputs: Inputs) -> Inputs | None:
    """With parameters of the shapes that the constructor's arguments ask for; None where some are not smaller."""
    if not inputs.parameters or answer.parameters is None:
        return inputs
    try:
        shapes = answer.parameters(**inputs.init)
    except Exception:  # of sizes that do not go together
        return None
    made = {name: value[tuple(map(slice, shapes.get(name, ())))] for name, value in inputs.parameters.items()}
    right = all(value.shape == shapes.get(name) for name, value in made.items())
    return replace(inputs, parameters=made) if right else None


def lower(answer: Answer, inputs: Inputs) -> Iterator[Inputs]:
    """With a lower whole number."""
    for part in ("arguments", "init"):
        for name, value in getattr(inputs, part).items():
            for to in dict.fromkeys((1, 2, value // 2)) if type(value) is int else ():
                if 0 < to < value and (made := fitted(answer, inputs.with_one(part, name, to))):
                    yield made


def alike(inputs: Inputs) -> Iterator[Inputs]:
    """With the same number everywhere in the parameters, or one in weights and another one in biases."""
    given = inputs.parameters
    for make in UNIFORM:
        yield replace(inputs, parameters={name: make(one) for name, one in given.items()})
    yield replace(inputs, parameters={name: UNIFORM[one.dim() < 2](one) for name, one in given.items()})


def plainer(inputs: Inputs) -> Iterator[Inputs]:
    """With all numbers rounded, or those of one tensor alike."""
    yield inputs.each(one_digit)
    for part in vars(inputs):
        for name, value in getattr(inputs, part).items():
            made: list[Any] = [make(value) for make in reversed(UNIFORM)] if isinstance(value, Tensor) else []
            made += [1.0] * (type(value) is float)
            yield from (inputs.with_one(part, name, one) for one in made)


def plainer_numbers(inputs: Inputs) -> Iterator[Inputs]:
    """With one number of a tensor made 0, 1 or whole."""
    for part in vars(inputs):
        for name, value in getattr(inputs, part).items():
            for place, number in enumerate(value.flatten().tolist()) if is_floating(value) else ():
                for to in (0.0, 1.0, float(round(number))) if abs(number) < torch.inf else ():
                    made = value.clone()
                    made.view(-1)[place] = to
                    yield inputs.with_one(part, name, made)


def one_digit(value: Any) -> Any:
    if is_floating(value):
        return value.clone().apply_(one_digit)
    return float(f"{value:.1g}") if isinstance(value, float) else value
