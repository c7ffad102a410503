"""Scenarios: functions of a grader that run beside the submission, and are sent there as text."""

from __future__ import annotations

import builtins
import functools
import inspect
import symtable
import textwrap
from collections.abc import Callable
from typing import Any

from graders.faults import GraderError

SCENARIO_NAMES = frozenset(("torch", "nn", "F", "math"))  # what a scenario may use; see worker/targets.py


@functools.cache
def on_ranks(scenario: Callable[..., Any]) -> bool:
    """Whether each of several ranks plays it, with a communicator."""
    return not {"comm", "group"}.isdisjoint(inspect.signature(scenario).parameters)


@functools.cache
def source_of(scenario: Callable[..., Any]) -> str:
    """The text of a scenario, which is sent to the worker. Raises: GraderError where it could not run alone there."""
    text = textwrap.dedent(inspect.getsource(scenario))
    if not text.startswith("def "):
        raise GraderError(f"scenario {scenario.__name__} should be a plain function, got a lambda or a decorated one")
    pending, used = [symtable.symtable(text, "scenario", "exec")], set[str]()
    while pending:
        scope = pending.pop()
        pending += scope.get_children()
        used |= {one.get_name() for one in scope.get_symbols() if one.is_global() and one.is_referenced()}
    foreign = used - SCENARIO_NAMES - vars(builtins).keys()
    if foreign:
        raise GraderError(
            f"scenario {scenario.__name__} should use its arguments, Python's own functions and "
            f"{', '.join(sorted(SCENARIO_NAMES))} alone, got {', '.join(sorted(foreign))}"
        )
    return text
