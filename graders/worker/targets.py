"""What a call is made of: a function, a module with the judge's parameters in it, or a scenario. Runs in the worker.

The rule at the top of calls.py holds here.
"""

from __future__ import annotations

import builtins
import math
import random
import warnings
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor

from graders.worker.communicator import RANKS, play_copies
from graders.worker.described import BASE, SCENARIO, device_of, dtype_of, is_tensor, results_of, shape_of
from graders.worker.fortress import outside
from graders.worker.fortress.outside import Step
from graders.worker.protocol import CallRequest

Target = Callable[..., Step]  # arguments -> the call with them
seed_everything = (partial(random.seed, 0), partial(torch.default_generator.manual_seed, 0))
# What scenarios may use (see kata/scenario.py): as it is now, since a submission could put other functions into torch.
SCENARIO_NAMES = {
    name: SimpleNamespace(**vars(module))
    for name, module in {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math}.items()
}
BUILTINS, compile_source, run_source = vars(builtins).copy(), compile, exec
# What a grader's own code is warned of, as of a tensor that requires grad and becomes a number, helps no learner.
warnings.filterwarnings("ignore", module=r"scenario\Z")
COMPILED: dict[str, CodeType] = {}  # scenarios that were played, by their source


class ParameterMismatch(Exception):
    """The module lacks a parameter that the contract names, or has it in another shape."""


def build(
    module: ModuleType, request: CallRequest, values: list[Tensor], leaves: dict[str, Tensor]
) -> tuple[Target, list[Tensor]]:
    """The function, or the module constructed and given the judge's parameters, which join the leaves; and its own.

    Raises: Failed, ParameterMismatch.
    """
    if request["scenario"]:
        played = partial(play_copies, scenario_of(request)) if RANKS in request["keywords"] else scenario_of(request)
        return partial(partial, played, module), []
    if request["init"] is None:
        return lambda *given, **named: partial(methodcaller(request["target"], *given, **named), module), []
    init = {name: value_of(argument, values) for name, argument in request["init"].items()}
    construct = outside.catching(partial(methodcaller(request["target"], **init), module))
    instance = results_of(*seed_everything, construct)[-1]
    parameters = {name: values[index] for name, index in request["parameters"].items()}
    theirs: list[Tensor] = []
    for first in list(parameters.values())[:1]:
        to = methodcaller("to", device=device_of(first), dtype=dtype_of(first))
        named = map(dict, map(methodcaller("named_parameters", remove_duplicate=False), [instance]))
        found = results_of(partial(to, instance), partial(list, named))[-1][0]
        own: dict[str, Any] = {name: one for name, one in found.items() if type(name) is str}
        for name, value in parameters.items():
            there: Any = own.get(name)
            if not is_tensor(there) or shape_of(there) != shape_of(value):
                got = tuple(shape_of(there)) if is_tensor(there) else "no such parameter"
                raise ParameterMismatch(f"{name} should have shape {tuple(shape_of(value))}, got {got}")
            BASE.copy_(there, value)
            theirs.append(there)
            if request["cotangents"] or request["measured"]:
                leaves[name] = there
        further = [name for name, one in own.items() if all(one is not known for known in theirs)]
        if further:
            raise ParameterMismatch(f"the parameters should be {', '.join(parameters)}, got also {', '.join(further)}")
    evaluating = "evaluating" in request["ways"]
    if "switched" in request["ways"]:
        rehearsal = outside.in_vain(with_arguments(partial(partial, instance), request, values))
        results_of(partial(methodcaller("train", evaluating), instance), rehearsal)
    if evaluating or "switched" in request["ways"]:
        results_of(partial(methodcaller("train", not evaluating), instance))
    return partial(partial, instance), theirs


def scenario_of(request: CallRequest) -> Callable[..., Any]:
    """The grader's function that is called in place of the target: it takes the submission first."""
    given = ", ".join(f"{name}=submission.{name}" for name in request["answers"])
    source = f"{request['scenario']}\n\ndef scenario(submission, /, **inputs):\n"
    source += f"    return {request['target']}({given}, **inputs)\n"
    if source not in COMPILED:
        COMPILED[source] = compile_source(source, SCENARIO, "exec")
    names: dict[str, Any] = {**SCENARIO_NAMES, "__name__": "scenario", "__builtins__": {**BUILTINS}}
    run_source(COMPILED[source], names)
    made: Any = names["scenario"]
    made.__wrapped__ = names[request["target"]]  # which says what it takes
    return cast(Callable[..., Any], made)


def with_arguments(target: Target, request: CallRequest, values: list[Tensor]) -> Step:
    positional = [value_of(argument, values) for argument in request["arguments"] or []]
    return target(*positional, **{name: value_of(argument, values) for name, argument in request["keywords"].items()})


def value_of(argument: Any, values: list[Tensor]) -> Any:
    if not isinstance(argument, dict):
        return argument
    return tuple(argument["tuple"]) if "tuple" in argument else values[argument["tensor"]]
