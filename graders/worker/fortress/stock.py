"""Looks up what of torch could be banned, before workers are forked, and which words ban what of it.

Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import gc
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

from graders.worker.fortress.sterile import sterile

# Where torch has mathematics in Python; elsewhere `normalize` may be of paths, lines or tags.
MATHEMATICS = re.compile(
    r"torch\.(nn|ao\.nn|functional|_tensor|_refs|_decomp|masked|distributions|_higher_order_ops|_functorch|autograd"
    r"|_inductor\.decomposition|_subclasses\.complex_tensor|nested|onnx\.ops|testing|utils\.checkpoint)(\.|$)"
)
# Banned whole, or a module of it, such as `lr_scheduler`.
BY_MODULE = ("torch.optim", "torch.distributions", "torch.autograd.gradcheck")
HARMLESS = ("set_default_validate_args",)  # which torch.compile calls when it is imported
SWITCH = re.compile("_profiler|record_function|^_autograd_init$|^_to_dlpack|texpr|tensorexpr|can_fuse_on_cpu")
REGISTER = "_dispatch_library"
IN_PYTHON = ("torch._decomp", "torch._refs")  # operators once more
BACKWARD_PASS = "backward pass"  # no name: stands for all that backward passes are made of
# But for those of views, which only write values where they came from: indexing needs them while the worker pulls
# gradients back.
BACKWARD = re.compile(r"(?<!select)(?<!slice)(?<!diagonal)(?<!unfold)_backward|^backward$")
FOR_LISTS = "foreach"  # stands for all operators on lists of tensors
DERIVATIVES = ("make_dual", "fw_primal", "gradcheck", BACKWARD_PASS)  # what `autograd` bans as well
VARIANT = re.compile("(_|sparse_|special_|foreach_)*")  # what may stand before an operator's name
EXITS = ("numpy", "__array__", "__dlpack__", "_to_dlpack", "to_dlpack")  # from torch to numpy


class Inventory(NamedTuple):
    """What there is to remove, looked up once before workers are forked."""

    operators: list[tuple[str, str, list[str]]]  # names without what is before them, full ones, dispatch keys; sorted
    functions: list[tuple[str, list[FunctionType]]]  # torch's own in Python, some by their modules' names as well
    exits: list[FunctionType]
    switches: list[tuple[dict[str, Any], str]]  # where functions that steer the profiler stand, and the ways to numpy
    registrars: list[dict[str, Any]]  # where the function stands by which kernels are registered
    engines: list[tuple[dict[str, Any], str]]  # where functions of the distributed engine stand


def naming() -> Callable[[FunctionType], list[str]]:
    """What finds the words by which a function of torch's may be banned."""
    mathematics, by_module, in_python, backward = MATHEMATICS.match, BY_MODULE, IN_PYTHON, BACKWARD.search
    kind, text, backward_pass, harmless = type, str, BACKWARD_PASS, HARMLESS

    def words_of(function: FunctionType) -> list[str]:
        module, name = function.__module__, function.__name__
        if kind(module) is not text:
            return []
        words = [name] if mathematics(module) else []
        if module.startswith(by_module) and name not in harmless:
            words += module.split(".")[1:]
        if module.startswith(in_python) and backward(name):
            words.append(backward_pass)
        return [word.lstrip("_") for word in words]

    return sterile(words_of)


words_of = naming()


def take_stock() -> Inventory:
    """Looks up all of torch that could be banned; takes 0.1 s."""
    import torch.nn.attention.flex_attention  # torch.compile imports it, which `guard` would refuse
    import torch.onnx.ops  # it has an attention in Python

    gc.unfreeze()  # what is frozen is not found
    operators: dict[str, list[str]] = {}
    for key in dir(torch._C.DispatchKey):
        try:
            names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
        except RuntimeError:  # dir() lists what is no key
            continue
        for name in names:
            operators.setdefault(name, []).append(key)
    functions: dict[str, list[FunctionType]] = {}
    for one in gc.get_objects():
        if type(one) is not FunctionType or not (one.__module__ or "").startswith("torch."):
            continue  # to ask all for the rest takes 0.1 s
        for word in words_of(one):
            functions.setdefault(word, []).append(one)
    switches = [
        value
        for module in (torch._C, torch._C._autograd)
        for name, value in vars(module).items()
        if isinstance(value, BuiltinFunctionType) and SWITCH.search(name)
    ]
    switches += [method for name, method in vars(torch._C.TensorBase).items() if name in EXITS]  # which others copied
    compiler: Any = torch._C._te  # type: ignore[attr-defined]
    switches += [value for value in vars(compiler).values() if isinstance(value, BuiltinFunctionType)]
    distributed: Any = getattr(torch._C, "_distributed_autograd", None)  # an engine of its own
    engine = [vars(distributed)[name] for name in ("backward", "_new_context") if distributed]
    register = torch._C._dispatch_library
    holders = [one for one in gc.get_referrers(*switches, *engine, register) if type(one) is dict]

    def places(functions: list[Any]) -> list[tuple[dict[str, Any], str]]:
        known = {*map(id, functions)}
        return [(holder, name) for holder in holders for name, value in holder.items() if id(value) in known]

    registrars = [one for one in holders if one.get(REGISTER) is register]
    gc.freeze()
    bare = [(VARIANT.sub("", name.partition("::")[2], count=1), name, keys) for name, keys in operators.items()]
    bare += [(BACKWARD_PASS, name, keys) for word, name, keys in bare if BACKWARD.search(word)]
    bare += [(FOR_LISTS, name, keys) for _, name, keys in bare if name.partition("::")[2].startswith("_foreach_")]
    exits = [one for name in EXITS for one in functions.get(name.lstrip("_"), ()) if one.__name__ == name]
    return Inventory(sorted(bare), sorted(functions.items()), exits, places(switches), registrars, places(engine))


def spelled_out(banned: tuple[str, ...]) -> tuple[str, ...]:
    """The words, with those that `autograd` stands for."""
    more = DERIVATIVES if "autograd" in banned else ()
    return *(word for word in banned if word != "autograd"), *more


def beginning_with(words: tuple[str, ...], found: list[tuple[str, *tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    """The entries whose name does; looks at few others, since what a forked process looks at is copied."""
    for word in words:
        for entry in islice(found, bisect_left(found, (word,)), None):
            if not entry[0].startswith(word):
                break
            yield entry
