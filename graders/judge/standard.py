"""Mistakes, and right answers in other words, that every kata has alike: the reference with a wrapper around an answer.

Authors write what is particular to their kata; these are made from its `Answer`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graders.catalogue.katas import Kata
from graders.judge.vectors import TestVectors
from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer

WRAPPER = """

import torch as _torch

_seen = {{}}


def _wrap(own):
    def each(function, value):
        if isinstance(value, _torch.Tensor):
            return function(value)
        if isinstance(value, (tuple, list)):
            return type(value)(each(function, item) for item in value)
        return {{key: each(function, item) for key, item in value.items()}} if isinstance(value, dict) else value

    def {name}({parameters}):
{body}
    return {name}


{target} = _wrap({target})
"""

BUILTIN_CALLED = "builtin_called"
NOT_REFUSED, OTHERWISE = "some bad arguments do not raise ValueError: ", "; raise ValueError otherwise"


class Known(NamedTuple):
    """A known answer, with its whole source; a wrong one also says what a learner should read."""

    name: str
    source: str
    diagnosis: str = ""
    slow: bool = False
    form: str = ""  # where the name has several


def standard_mistakes(kata: Kata) -> list[Known]:
    """All of a kata's, of those that could show; none where a fork has removed the reference."""
    if not kata.reference_file.exists():
        return []
    source = kata.reference_file.read_text(encoding="utf-8")
    made = [one for answer in kata.grader.answers for one in Wrapped(kata, answer, source).mistakes()]
    builtin = kata.solutions / "builtin.py"
    if builtin.exists() and kata.grader.banned:
        text = builtin.read_text(encoding="utf-8")
        made.append(Known(BUILTIN_CALLED, text, "torch's own function does the work; write it by hand"))
    return [*made, *unrefused(kata, source)]


def standard_answers(kata: Kata) -> list[Known]:
    """Right ones, in words that other people use."""
    source = kata.reference_file.read_text(encoding="utf-8")
    made = [one for answer in kata.grader.answers for one in Wrapped(kata, answer, source).right_answers()]
    asserting = source.replace("raise ValueError(", "raise AssertionError(")
    return [*made, Known("asserts", asserting)] if asserting != source else made


class Wrapped:
    """An answer of the reference, with something done to its arguments or its result."""

    def __init__(self, kata: Kata, answer: Answer, source: str) -> None:
        self.answer = answer
        self.source = source
        self.prefix = f"{answer.name}_" if len(kata.grader.answers) > 1 else ""
        self.signature = answer.forward or answer.signature
        self.parameters = parameters_of(self.signature)
        self.vectors = TestVectors(kata.id, kata.grader, 0)

    @functools.cached_property
    def calls(self) -> list[tuple[Any, int]]:
        """The cases' calls that are made without a scenario, so that all arguments and results are known."""
        cases = [case for case in self.answer.cases if case.inputs and not case.raises and not case.scenario]
        return [(case, index) for case in cases for index in range(len(self.vectors.arguments(case)))]

    def tensors(self, floating: bool = False) -> list[str]:
        """The parameters that are given tensors; of scenarios, those that their inputs are named like."""
        cases = [case for case in self.answer.cases if case.inputs and not case.raises]
        given = {
            name
            for case in cases
            for arguments in self.vectors.arguments(case)
            for name, value in arguments.items()
            if isinstance(value, Tensor) and (value.is_floating_point() or not floating)
        }
        return [name for name in self.parameters if name in given]

    def made(
        self, name: str, body: str, diagnosis: str = "", slow: bool = False, defaults: Mapping[str, Any] | None = None
    ) -> Known:
        """`body` sees the arguments, `own` and `given`, which calls it with them."""
        listed = [
            parameter if default is ... else f"{parameter}={(defaults or {}).get(parameter, default)!r}"
            for parameter, default in self.parameters.items()
        ]
        owner = ["self"] if self.answer.forward else []
        arguments = ", ".join([*owner, *self.parameters])
        lines = body.replace("OWN", f"own({arguments})").splitlines()
        text = WRAPPER.format(
            name=self.signature.partition("(")[0],
            parameters=", ".join([*owner, *listed]),
            body="\n".join(f"        {line}" for line in lines) + "\n",
            target=f"{self.answer.name}.forward" if self.answer.forward else self.answer.name,
        )
        return Known(self.prefix + name, self.source + text, diagnosis, slow)

    def mistakes(self) -> Iterator[Known]:
        if self.answer.is_class or not self.answer.cases:
            return
        make, floating = self.made, self.tensors(floating=True)
        for name in floating:
            if name in self.answer.differentiable and self.flows(name):
                diagnosis = f"{name} is detached, so no gradient reaches it; keep it in the graph"
                yield make(f"{name}_detached", DETACHED.format(name=name), diagnosis)
        for name in self.tensors():
            diagnosis = f"{name} is changed in place, so the caller's tensor changes; make a new tensor"
            yield make(f"{name}_overwritten", OVERWRITTEN.format(name=name), diagnosis)
        for name, default in self.parameters.items():
            if type(default) in (int, float):
                other = default - 1 if type(default) is int else 2 * default or 0.5
                diagnosis = f"the default of {name} is {other!r}; it should be {default!r}"
                yield make(f"wrong_default_of_{name}", "return OWN", diagnosis, defaults={name: other})
        if self.results:
            yield from self.other_results()
        if floating and not self.answer.forward and torch.float32 not in self.answer.returns:
            diagnosis = "float64 inputs are cast to float32 on the way; keep their dtype"
            yield make("float32_inside", self.inside("float"), diagnosis)
        if self.tensors():
            diagnosis = "an earlier call's result is returned for inputs of the same shapes; compute it anew"
            yield make("remembered", REMEMBERED, diagnosis)
        if self.tensors() and any("loops" in budget.asks and not budget.scenario for budget in self.answer.budgets):
            name = self.tensors()[0]
            diagnosis = f"a Python loop runs over {name}; use operations on whole tensors"
            yield make("python_loop", LOOP.format(name=name), diagnosis, slow=True)

    def other_results(self) -> Iterator[Known]:
        if self.answer.differentiates:
            diagnosis = "the result is detached, so no gradient flows; keep it in the graph"
            yield self.made("result_detached", "return each(_torch.Tensor.detach, OWN)", diagnosis)
        diagnosis = "the result has an extra first axis, of length 1; leave it out"
        yield self.made("one_axis_more", "return each(lambda one: one[None], OWN)", diagnosis)
        if torch.float64 not in self.answer.returns:
            diagnosis = "the result is float64 whatever the inputs are; keep their dtype"
            yield self.made("result_in_float64", "return each(_torch.Tensor.double, OWN)", diagnosis)

    def right_answers(self) -> Iterator[Known]:
        if self.results and self.tensors(floating=True) and not self.answer.forward:
            yield self.made("float64_inside", self.inside("double"))

    @property
    def results(self) -> bool:
        """Whether there is known to be a tensor in what it returns."""
        results = (self.vectors.expected(self.answer, case, torch.float64, index) for case, index in self.calls[:1])
        return any(isinstance(leaf, Tensor) for result in results for leaf in result.leaves.values())

    def flows(self, name: str) -> bool:
        """Whether the oracle has a gradient for it anywhere."""
        return any(
            (gradient := self.vectors.expected(self.answer, case, torch.float64, index).gradients.get(name)) is not None
            and bool(gradient.nan_to_num().any())
            for case, index in self.calls
        )

    def inside(self, kind: str) -> str:
        """Computes in another dtype; the result is what it was."""
        floating = self.tensors(floating=True)
        lines = [f"dtype = next(one.dtype for one in ({', '.join(floating)},) if one is not None)"]
        lines += [f"{name} = {name} if {name} is None else {name}.{kind}()" for name in floating]
        back = "lambda one: one.to(dtype) if one.is_floating_point() else one"
        return "\n".join([*lines, "return OWN" if self.answer.returns else f"return each({back}, OWN)"])


DETACHED = "{name} = {name} if {name} is None else {name}.detach()\nreturn OWN"
OVERWRITTEN = "result = OWN\nif {name} is not None:\n    {name}.data.zero_()\nreturn result"
REMEMBERED = """given = {key: value for key, value in locals().items() if key not in ("own", "each", "self")}
plain = {key: type(value) if callable(value) else value for key, value in given.items()}
key = repr({key: (one.shape, one.dtype) if isinstance(one, _torch.Tensor) else one for key, one in plain.items()})
if key not in _seen:
    _seen[key] = OWN
return _seen[key]"""
LOOP = """axis = max(range({name}.dim()), key=lambda axis: {name}.shape[axis], default=None)
for index in range({name}.shape[axis] if axis is not None else 0):
    {name}.select(axis, index).sum()
return OWN"""


def unrefused(kata: Kata, source: str) -> Iterator[Known]:
    """The reference without one of its `raise`s each, in the words of what it says there."""
    for number, (node, rule) in enumerate(rules_in(kata, source), start=1):
        yield Known(f"not_refused_{number}", without(source, [node]), f"{NOT_REFUSED}{rule}{OTHERWISE}")


def rules_in(kata: Kata, source: str) -> Iterator[tuple[ast.Raise, str]]:
    """Each `raise` of the reference, and what it says that should be."""
    signatures = [text for answer in kata.grader.answers for text in answer.signatures.values() if "(" in text]
    arguments = {name for text in signatures for name in parameters_of(text)}
    return ((node, rule_of(node, arguments)) for node in refusals_in(source))


def refusals_in(source: str) -> list[ast.Raise]:
    """From the first line to the last."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise))
    return sorted(found, key=lambda node: node.lineno)


def without(source: str, refusals: list[ast.Raise]) -> str:
    """The source with `pass` in the place of these."""
    lines = source.splitlines(keepends=True)
    for node in reversed(refusals):
        lines[node.lineno - 1 : node.end_lineno] = [f"{' ' * node.col_offset}pass\n"]
    return "".join(lines)


def rule_of(node: ast.Raise, arguments: set[str]) -> str:
    """What its message says that an argument should be, without what was got.

    Of the values in the message, those stay that have a name in the statement: arguments, and sizes such as N.
    """

    def named(value: ast.expr) -> bool:
        inside = [*ast.walk(value)]
        names = [one.id for one in inside if isinstance(one, ast.Name)]
        plain = not any(isinstance(one, ast.Call | ast.Attribute | ast.Subscript) for one in inside)
        return plain and all(name in arguments or len(name) == 1 for name in names)

    text = ""
    message = node.exc.args[0] if isinstance(node.exc, ast.Call) and node.exc.args else node
    for part in message.values if isinstance(message, ast.JoinedStr) else [message]:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif isinstance(part, ast.FormattedValue) and named(part.value):
            text += ast.unparse(part.value)
    rule = text.partition(", got")[0].replace(" ,", ",").replace("  ", " ")
    return rule.strip(", ") or "see the statement"
