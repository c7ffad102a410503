"""Turns a grader into its checks, and shares the points among them: what every kata is asked without its author asking.

The questions themselves are in correctness.py, robustness.py and budgets.py.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from graders.faults import GraderError
from graders.judge import budgets, correctness, robustness
from graders.judge.trial import Trial
from graders.kata.spec import CATEGORIES, Answer, Case, Grader
from graders.kata.tolerances import dtype_name

WEIGHTS = {
    "contract": 10,
    "shapes": 10,
    "numerics": 35,
    "gradients": 25,
    "robustness": 15,
    "rules": 5,
    "performance": 15,
}
POINTS = 100


class Order(enum.IntEnum):
    """In which order failures are best looked at, which is not the order of the checks."""

    SIGNATURE = enum.auto()
    TYPICAL = enum.auto()  # shape and values of the core's first case
    TYPICAL_GRADIENTS = enum.auto()
    CASES = enum.auto()  # the others' shapes and values, case by case
    GRADIENTS = enum.auto()
    REFUSALS = enum.auto()
    EXTREMES = enum.auto()  # shapes and values of cases that are not of the core
    EXTREME_GRADIENTS = enum.auto()
    ROBUSTNESS = enum.auto()
    COST = enum.auto()


ORDER = dict.fromkeys(CATEGORIES, Order.CASES)
ORDER |= {"contract": Order.REFUSALS, "robustness": Order.ROBUSTNESS, "performance": Order.COST}


@dataclass(frozen=True)
class Check:
    """One question; `ask` raises CheckFailed where the answer is wrong, anything else where the grader is.

    It is not asked where one of those that it comes `after` failed, by their names.
    """

    name: str
    category: str
    ask: Callable[[Trial], None]
    points: int = 0
    after: tuple[str, ...] = ()
    order: int = Order.CASES  # once planned, the place among all checks
    core: bool = False  # whether the mathematics is wrong where it fails: see `is_core`


def is_core(category: str, case: Case | None = None) -> bool:
    """The core: names and signature, shapes, values and gradients of the ordinary cases, and the rules.

    Not bad arguments, not robustness, not cost. Of a contract's checks only the signature's has no case.
    """
    return (case is None or case.in_core) and category not in ("robustness", "performance")


def plan(grader: Grader, module: ModuleType | None = None, with_budgets: bool = True) -> tuple[Check, ...]:
    """All checks of a grader with their points, and the test functions that its module has beside it.

    Budgets need the reference, which a fork may have removed.

    Raises: GraderError where there are more checks than points.
    """
    checks = [check for answer in grader.answers for check in checks_of(grader, answer, with_budgets)]
    for name, function in vars(module).items() if module else ():
        if name.startswith("test_"):
            marks = [mark.name for mark in getattr(function, "pytestmark", []) if mark.name in CATEGORIES]
            category = marks[0] if marks else "numerics"
            short = name.removeprefix("test_")
            checks.append(
                Check(
                    f"{category}/{short}",
                    category,
                    functools.partial(correctness.own_test, function, short, category),
                    order=ORDER[category],
                    core=is_core(category) and category != "contract",
                )
            )
    ranked = {check.name: place for place, check in enumerate(sorted(checks, key=lambda check: check.order))}
    checks = [replace(check, order=ranked[check.name]) for check in checks]
    checks.sort(key=lambda check: CATEGORIES.index(check.category))
    shares = share_points([check.category for check in checks])
    return tuple(replace(check, points=points) for check, points in zip(checks, shares, strict=True))


def share_points(categories: list[str]) -> list[int]:
    """Whole points that add up to POINTS: by category's weight, then evenly, at least one for every check."""
    counts = {name: categories.count(name) for name in CATEGORIES if name in categories}
    if len(categories) > POINTS:
        raise GraderError(
            f"{len(categories)} checks cannot share {POINTS} points; merge some cases into one with a list"
        )
    budget = {name: float(count) for name, count in counts.items()}
    spare = POINTS - len(categories)
    lacking = {name: max(WEIGHTS[name] - count, 0) for name, count in counts.items()}
    for name, lack in lacking.items():
        budget[name] += spare * lack / (sum(lacking.values()) or 1)
    totals = {name: int(value) for name, value in budget.items()}
    totals[max(totals, key=lambda name: totals[name])] += POINTS - sum(totals.values())
    shares = {name: [totals[name] // n + (i < totals[name] % n) for i in range(n)] for name, n in counts.items()}
    return [shares[category].pop(0) for category in categories]


def checks_of(grader: Grader, answer: Answer, with_budgets: bool) -> list[Check]:
    made: list[Check] = []
    prefix = f"{answer.name}_" if len(grader.answers) > 1 else ""

    def add(
        category: str,
        name: str,
        ask: Callable[..., None],
        *arguments: Any,
        after: tuple[str, ...] = (),
        order: Order | None = None,
        case: Case | None = None,
    ) -> None:
        question, core = functools.partial(ask, *arguments), is_core(category, case)
        made.append(Check(f"{category}/{name}", category, question, 0, after, order or ORDER[category], core))

    first = answer.cases[0] if answer.cases else None
    typical = next((case for case in answer.cases if case.in_core), None)
    good = [case for case in answer.cases if not case.raises]
    halved = [case for case in good if answer.halves_in(case)]
    called = [case for case in answer.cases if case.inputs]
    add("contract", f"{prefix}signature", correctness.signature, answer, order=Order.SIGNATURE)
    for case in answer.cases:
        if case.raises:
            add("contract", case.name, correctness.raises, answer, case, case=case)
            continue
        order, then = Order.CASES, Order.GRADIENTS
        if case is typical:
            order, then = Order.TYPICAL, Order.TYPICAL_GRADIENTS
        elif not case.in_core:
            order, then = Order.EXTREMES, Order.EXTREME_GRADIENTS
        add("shapes", case.name, correctness.shapes, answer, case, case.dtypes, order=order, case=case)
        for dtype in case.dtypes:
            name = f"{case.name}/{dtype_name(dtype)}"
            add(case.category, name, correctness.values, answer, case, dtype, order=order, case=case)
            if answer.differentiates_in(case):
                add("gradients", name, correctness.gradients, answer, case, dtype, order=then, case=case)
    if first is None:
        add("rules", f"{prefix}calls", correctness.allowed_calls, answer, good)
        return made
    for dtype in answer.halves:
        name = f"{prefix}half_precision/{dtype_name(dtype)}"
        add("robustness", name, robustness.half_precision, answer, halved, dtype)
    add("robustness", f"{prefix}non_contiguous", robustness.non_contiguous, answer, good)
    add("robustness", f"{prefix}inputs_left_alone", robustness.inputs_left_alone, answer, called)
    add("robustness", f"{prefix}same_answer_twice", robustness.same_answer_twice, answer, good)
    add("rules", f"{prefix}calls", correctness.allowed_calls, answer, good)
    loops = tuple(f"performance/{budget.name}/loops" for budget in answer.budgets if "loops" in budget.asks)
    for budget in answer.budgets if with_budgets else ():
        for name, ask in (("loops", budgets.loops), ("memory", budgets.memory), ("time", budgets.processor_time)):
            if name in budget.asks:
                add("performance", f"{budget.name}/{name}", ask, answer, budget, after=loops if name == "time" else ())
    return made
