"""Makes one call of a submission, or plays a scenario with it, and pulls gradients back. Runs in the worker.

All that runs code of the submission's own, be it a constructor, `__str__` or a backward, goes through outside.py.
Whatever of torch's is used after a submission was read was looked up before: it may have put others there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from itertools import repeat
from operator import setitem
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from graders.worker import meter
from graders.worker.communicator import RANKS, messages
from graders.worker.described import (
    BASE,
    Failed,
    describe_output,
    device_of,
    dtype_of,
    is_tensor,
    needs_gradient,
    raised,
    results_of,
    shape_of,
)
from graders.worker.fortress import outside
from graders.worker.fortress.outside import Step
from graders.worker.inputs import is_without_hooks, prepare_inputs, same_values, under_inference, version
from graders.worker.protocol import CallRequest, Reply
from graders.worker.targets import Target, build, seed_everything, value_of, with_arguments

modes_of_functions, modes_of_operators = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack
gradient_of, set_gradient = BASE.__dict__["_grad"].__get__, BASE.__dict__["_grad"].__set__
hooks_of = [BASE.__dict__[name].__get__ for name in ("_backward_hooks", "_post_accumulate_grad_hooks")]
without_version = BASE.__dict__["data"].__get__  # the same memory, whose changes nobody is told of
linspace, ones_like = torch.linspace, torch.ones_like
run_backward = torch.autograd.Variable._execution_engine.run_backward
set_grad_enabled, set_num_threads = torch._C._set_grad_enabled, torch.set_num_threads
GRAD_MODE = "torch's grad mode"
# What of torch should be the same after a call as before it, and what makes it so again: for grad mode, outside.py.
STATE: dict[str, tuple[Step, Callable[[Any], Any] | None]] = {
    "torch's default dtype": (torch.get_default_dtype, torch._C._set_default_dtype),
    GRAD_MODE: (torch.is_grad_enabled, None),
    "torch's use of deterministic algorithms": (
        torch._C._get_deterministic_algorithms,
        torch._C._set_deterministic_algorithms,
    ),
    "torch's number of threads": (torch.get_num_threads, set_num_threads),
}
LOOK_AT_STATE = [getter for getter, _ in STATE.values()]
STATE_AT_FIRST: list[Any] = []  # before the first call, since a submission may set it on import
synchronize, settrace, trace_threads = torch.cuda.synchronize, sys.settrace, threading.settrace
OFTEN = 6  # calls more, so that what counts is an object's eighth


class GradientOverwritten(Exception):
    """By a backward of the submission's own: others may add to the same gradient."""


def call(module: ModuleType, path: str, request: CallRequest, tensors: list[Tensor]) -> tuple[Reply, list[Tensor]]:
    """Makes one call, and where cotangents came with it, pulls them back; returns the reply and its tensors."""
    if request["device"] != "cpu":
        tensors = [BASE.to(tensor, request["device"]) for tensor in tensors]
    prepare_inputs(request, tensors)
    leaves = {name: BASE.requires_grad_(tensors[index]) for name, index in request["leaves"].items()}
    had: dict[str, Tensor] = {}  # gradients that inputs have already
    if request["beside"] == "after" and not request["scenario"]:
        for name, leaf in leaves.items():
            had[name] = ones_like(leaf)
            set_gradient(leaf, had[name])
    elif request["beside"] and request["cotangents"] and not (request["scenario"] or "parameters" in request["ways"]):
        # As what a network made.
        views, _ = outside.run(*[partial(BASE.view_as, leaf, leaf) for leaf in leaves.values()])
        for index, view in zip(request["leaves"].values(), views, strict=True):
            tensors[index] = view
    watched = {name: tensors[index] for name, index in request["watched"].items()}
    before = {name: BASE.clone(BASE.detach(tensor)) for name, tensor in watched.items()}
    versions = {name: version(tensor) for name, tensor in watched.items()}
    answer: list[Tensor] = []
    reply: Reply = {}

    def send_back(tensor: Tensor) -> int:
        if not is_tensor(tensor) or modes_of_functions() or modes_of_operators():
            raise TypeError("a tensor has methods of its own")
        answer.append(BASE.resolve_neg(BASE.contiguous(BASE.cpu(BASE.detach(tensor)))))
        return len(answer) - 1

    def make() -> None:
        target, parameters = build(module, request, tensors, leaves)
        if request["arguments"] is not None:
            counter = meter.counter() if request["measured"] == "cost" else None
            output = forward(target, request, tensors, parameters, counter, reply)
            returned: list[Tensor] = []
            reply["output"] = describe_output(output, returned)
            for tensor in returned:
                send_back(tensor)
            cotangents = [tensors[index] for index in request["cotangents"]]
            if request["measured"] and leaves:
                cotangents = [*map(ramp_cotangent, returned)]
            if cotangents:
                gradients = backward(returned, cotangents, leaves, counter, "twice" in request["ways"])
                reply["gradients"] = {name: None if one is None else send_back(one) for name, one in gradients.items()}
            if counter:
                reply["cost"] = counter.figures() | meter.longest_loop(counter.runs, path)
        if request["device"] != "cpu":
            results_of(synchronize)  # what it left to other streams counts, and fails, here

    def look() -> None:
        """At the inputs, which a call that raises should leave alone, too."""
        reply["changed"] = {
            name: send_back(tensor) for name, tensor in watched.items() if not same_values(tensor, before[name])
        }
        reply["marked"] = {}
        for name, tensor in watched.items():
            if (
                needs_gradient(tensor) != (name in leaves)
                or gradient_of(leaves.get(name, tensor)) is not had.get(name)
                or (name in had and not BASE.equal(had[name], ones_like(had[name])))
            ):
                reply["marked"][name] = "its requires_grad or .grad is changed"
            elif not all(is_without_hooks(hooks(tensor)) for hooks in hooks_of):
                reply["marked"][name] = "a hook is left on it"
            elif version(tensor) != versions[name]:
                reply["marked"][name] = "is written to in place, even if with the same values"

    def tell() -> None:
        """What ranks did, also where one of them raised."""
        if RANKS in request["keywords"]:
            reply["messages"] = messages()

    for step in (make, look, tell):
        try:
            step()
        except Failed as failure:
            reply["raised"] = raised(failure.args[0], path)
        except Exception as ours:  # about what the submission gave us
            reply["raised"] = raised(ours, path)
    return reply, answer


def forward(
    target: Target,
    request: CallRequest,
    tensors: list[Tensor],
    parameters: list[Tensor],
    counter: meter.Counter | None,
    reply: Reply,
) -> Any:
    """What the call returned. Tells the reply what of torch's state it left changed, also where it raised.

    Raises: Failed.
    """
    if not STATE_AT_FIRST:
        STATE_AT_FIRST.extend(results_of(partial(set_num_threads, 1), *LOOK_AT_STATE)[1:])
    shown = meter.in_short if request["measured"] else meter.in_full
    mode: list[Step] = [
        partial(set_num_threads, 1),  # whatever was chosen on import: all of them would count
        partial(setitem, meter.SHOWING, meter.SHOW, shown),
    ]
    earlier, later, after = list[Step](), list[Step](), list[Step]()
    if "no_grad" in request["ways"]:
        mode.append(partial(set_grad_enabled, False))
        after.append(partial(set_grad_enabled, True))
    if "inference" in request["ways"]:
        begin, end = under_inference()
        mode.append(begin)
        after.append(end)
    if request["beside"] in ("before", "often"):
        filled = [tensor for tensor in (*tensors, *parameters) if 0 not in BASE.stride(tensor)]  # that was expanded
        earlier = rehearsals(target, request, tensors, filled)
    elif request["beside"] == "after":  # it may write its result, or what backward needs, where the first did
        later = [outside.in_vain(with_arguments(target, request, other_values(tensors)))]
    called = outside.catching(with_arguments(target, request, tensors))
    if counter:
        return metered(called, counter, *mode, *earlier, *seed_everything)
    before: list[Step] = [*mode, *earlier, *seed_everything]
    results, error = outside.run(*before, called, *later, *LOOK_AT_STATE, *after)
    first = len(before) + 1 + len(later)
    seen = results[first : first + len(STATE)]
    if len(seen) == len(STATE):
        reply["left"] = restored(seen, recording=not after)
    else:  # its thread has ended
        reply["left"] = restored(outside.run(*LOOK_AT_STATE)[0])
    if error is not None:
        raise Failed(error)
    return results[len(before)]


def restored(now: list[Any], recording: bool = True) -> list[str]:
    """What calls changed of torch's state, which is as at first again. Grad mode is the call's own."""
    usual = dict(zip(STATE, STATE_AT_FIRST, strict=True)) | {GRAD_MODE: recording}
    changed = [what for what, one in zip(STATE, now, strict=True) if usual[what] != one]
    if changed:
        outside.run(*[partial(setter, usual[what]) for what in changed if (setter := STATE[what][1])])
    return changed


def metered(step: Step, counter: meter.Counter, *before: Step) -> Any:
    """What the step returned. Raises: Failed."""
    counted = (counter.begin, partial(settrace, counter.trace), step, partial(settrace, None), counter.end)
    outside.run(partial(trace_threads, counter.trace))
    try:
        *_, result, _, _ = results_of(*before, *counted)
    finally:
        outside.run(partial(trace_threads, None))
    return result


def backward(
    outputs: list[Tensor],
    cotangents: list[Tensor],
    leaves: dict[str, Tensor],
    counter: meter.Counter | None,
    twice: bool,
) -> dict[str, Tensor | None]:
    """The gradient of Σ⟨output, cotangent⟩ with respect to each leaf, None where nothing flows; or its second one.

    Raises: Failed, GradientOverwritten.
    """
    pairs = [
        (output, BASE.to(cotangent, dtype_of(output)))
        for output, cotangent in zip(outputs, cotangents, strict=False)
        if needs_gradient(output) and shape_of(output) == shape_of(cotangent)
    ]
    if not pairs:
        return dict.fromkeys(leaves)
    roots, seeds = zip(*pairs, strict=True)
    kept = [*map(BASE.clone, seeds)]
    inputs = tuple(leaves.values())
    first, step = (
        partial(run_backward, roots, seeds, retain_graph, False, inputs, True, accumulate_grad=False)
        for retain_graph in (True, False)
    )
    before: list[Step] = [partial(set_num_threads, 1), *[first] * twice]
    found = metered(step, counter, *before) if counter else results_of(*before, step)[-1]
    if not all(map(BASE.equal, seeds, kept)):
        raise GradientOverwritten("a backward that writes into the gradient that it is given; write into a copy")
    return dict(zip(leaves, found, strict=True))


def other_values(values: list[Tensor]) -> list[Tensor]:
    """Of these shapes, all finite: what a right answer makes of infinite ones could end a GPU's work for good."""
    others = [
        BASE.requires_grad_(BASE.nan_to_num(BASE.sqrt(BASE.abs(BASE.detach(value))), 1, 1), needs_gradient(value))
        if BASE.is_floating_point(value)
        else BASE.clone(value)
        for value in values
    ]
    for value in others:
        if not BASE.is_floating_point(value) and BASE.dim(value):
            BASE.copy_(value, BASE.flip(value, 0))
            break  # one, so that pairs of labels do not stay the same pairs
    return others


def rehearsals(target: Target, request: CallRequest, values: list[Tensor], filled: list[Tensor]) -> list[Step]:
    """Calls whose results do not matter: with another call's arguments, if any, and with the same tensors while some,
    inputs and parameters, are filled otherwise. Who keeps results by object or address is wrong in the call after it.
    """
    steps: list[Step] = []
    if request["earlier"]:
        earlier = {name: value_of(argument, values) for name, argument in request["earlier"].items()}
        steps.append(outside.in_vain(target(**earlier)))
    bare = [*map(without_version, filled)]
    kept = [*map(BASE.clone, bare)]
    again = outside.in_vain(with_arguments(target, request, values))
    steps += [
        *map(partial, repeat(BASE.copy_), bare, map(BASE.detach, other_values(filled))),
        again,
        *map(partial, repeat(BASE.copy_), bare, kept),
    ]
    return steps + [again] * (OFTEN * (request["beside"] == "often"))


def ramp_cotangent(output: Tensor) -> Tensor:
    """A cotangent for calls whose cost is measured, under which a softmax's gradient is not zero."""
    count = BASE.numel(output)
    return BASE.reshape(linspace(-1, 1, max(count, 1), device=device_of(output))[:count], shape_of(output))
