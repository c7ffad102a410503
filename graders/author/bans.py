"""Holds a grader's bans against torch: each matches something, and all that torch's own answer needs is matched.

Torch's own answer is `builtin.py`. What it runs, the reference does not, and no ban matches, would do the job as well.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from graders.catalogue.katas import Kata, load_module
from graders.faults import CheckFailed
from graders.judge import correctness
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors, played
from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer, Case
from graders.sandbox.messages import floating
from graders.worker.fortress import stock

# Views, copies, fillings, arithmetic and comparisons: whoever runs these writes the formula.
PLAIN = re.compile(
    "add|as_strided|bitwise_|clamp|clone|copy|div|empty|eq|expand|fill|flatten|full|ge|gt|index|le|lift_fresh|lt|masked_fill|mul|ne|neg"
    "|ones|permute|pow|repeat|reshape|scalar_tensor|select|slice|sqrt|squeeze|sub|sum|to|transpose|unflatten|unsqueeze|view|zero"
)


inventory = functools.cache(stock.take_stock)


def without_effect(banned: tuple[str, ...]) -> list[str]:
    """The words that match no operator, no function and no module of torch's."""
    known = inventory()
    return [
        word
        for word in stock.spelled_out(banned)
        if not any(next(stock.beginning_with((word,), found), None) for found in (known.operators, known.functions))
        and not is_in_a_late_module(word)
    ]


def is_in_a_late_module(word: str) -> bool:
    """Torch imports many of its modules only when they are asked for."""
    defined = re.compile(rf"^ *def _*{word}".encode(), re.MULTILINE)
    files = Path(torch.__file__).parent.rglob("*.py")
    return any(file.stem == word or defined.search(file.read_bytes()) for file in files)


def wrong_values(trial: Trial) -> Iterator[str]:
    """Where torch's own answer, as `trial`, gives other values than the oracle, be it at a budget's sizes."""
    for answer in trial.vectors.grader.answers:
        at_large = (replace(budget.case(None), gradients="none") for budget in answer.budgets)
        for case in (*answer.cases, *at_large):
            for dtype in case.dtypes if not case.raises else ():
                try:
                    correctness.values(answer, case, dtype, trial)
                except CheckFailed as failure:
                    yield f"builtin.py at {case.name}: {failure}"


def unmatched(kata: Kata, vectors: TestVectors) -> list[str]:
    """The operators of torch's own answer that no ban matches, and that neither the reference runs nor are plain."""
    file = kata.solutions / "builtin.py"
    if not kata.grader.banned or not file.exists():
        return []
    ours = operators(load_module(kata.reference_file, f"reference_of_{kata.id}"), vectors)
    theirs = operators(load_module(file, f"builtin_of_{kata.id}"), vectors)
    banned = stock.spelled_out(kata.grader.banned)
    return [name for name in sorted(theirs - ours) if not name.startswith(banned) and not PLAIN.match(name)]


class Seen(TorchDispatchMode):
    """Notes which operators run, by their names as bans match them."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch would import its compiler, for two seconds, to leave this class out of it

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(stock.VARIANT.sub("", function._schema.name.partition("::")[2], count=1))
        return function(*args, **(kwargs or {}))


def operators(module: ModuleType, vectors: TestVectors) -> set[str]:
    """What the module's answers run on all cases that they should answer."""
    seen = Seen()
    for answer in vectors.grader.answers:
        for case in (one for one in answer.cases if not one.raises):
            for given in copy.deepcopy(vectors.arguments(case)):  # a scenario may write into them
                arguments = floating(given, torch.float64)
                first = [arguments.pop(name) for name in ([] if case.scenario else required(answer))]
                with seen:
                    called(module, vectors, answer, case)(*first, **arguments)
    return seen.names


def called(module: ModuleType, vectors: TestVectors, answer: Answer, case: Case) -> Callable[..., Any]:
    """What takes the case's inputs."""
    if case.scenario:
        given = {name: getattr(module, name) for name in vectors.answers_in(case.scenario)}
        return played(case.scenario, **given)
    made: Callable[..., Any] = getattr(module, answer.name)
    return made(**vectors.constructed(case)).double() if answer.forward else made


def required(answer: Answer) -> list[str]:
    """What has no default is given by position, as in a request: torch's own functions have other names for it."""
    return [name for name, default in parameters_of(answer.forward or answer.signature).items() if default is ...]
