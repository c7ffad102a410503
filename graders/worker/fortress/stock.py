"""Looks up what of torch could be banned, before workers are forked, and which words ban what of it."""

from __future__ import annotations

import builtins
import gc
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from types import FunctionType
from typing import Any, NamedTuple

# Where torch has mathematics in Python; elsewhere `normalize` may be of paths, lines or tags.
MATHEMATICS = re.compile(
    r"torch\.(nn|ao\.nn|functional|_tensor|_refs|_decomp|masked|distributions|_higher_order_ops|_functorch|autograd"
    r"|_inductor\.decomposition|_subclasses\.complex_tensor|nested|testing|utils\.checkpoint)(\.|$)"
)
# Banned whole, or a module of it, such as `lr_scheduler`.
BY_MODULE = ("torch.optim", "torch.distributions", "torch.autograd.gradcheck", "torch.utils.data")
HARMLESS = ("set_default_validate_args",)  # which torch.compile calls when it is imported
IN_PYTHON = ("torch._decomp", "torch._refs")  # operators once more
BACKWARD_PASS = "backward pass"  # no name: stands for all that backward passes are made of
# But for those of views, which only write values where they came from: indexing needs them while the worker pulls
# gradients back.
BACKWARD = re.compile(r"(?<!select)(?<!slice)(?<!diagonal)(?<!unfold)_backward|^backward$")
FOR_LISTS = "foreach"  # stands for all operators on lists of tensors
DERIVATIVES = ("make_dual", "fw_primal", "gradcheck", BACKWARD_PASS)  # what `autograd` bans as well
VARIANT = re.compile("(_|sparse_|special_|foreach_)*")  # what may stand before an operator's name


class Inventory(NamedTuple):
    """What could be banned, looked up once before workers are forked."""

    operators: list[tuple[str, str, list[str]]]  # names without what is before them, full ones, dispatch keys; sorted
    functions: list[tuple[str, list[FunctionType]]]  # torch's own in Python, some by their modules' names as well


def words_of(module: str, functions: list[FunctionType]) -> Iterator[tuple[str, FunctionType]]:
    """By which functions of a module of torch's may be banned."""
    mathematics = MATHEMATICS.match(module)
    banned_whole = [word.lstrip("_") for word in module.split(".")[1:]] if module.startswith(BY_MODULE) else []
    operators = module.startswith(IN_PYTHON)
    if not (mathematics or banned_whole or operators):
        return
    for function in functions:
        name = function.__name__
        if mathematics:
            yield name.lstrip("_"), function
        if name not in HARMLESS:
            for word in banned_whole:
                yield word, function
        if operators and BACKWARD.search(name):
            yield BACKWARD_PASS, function


def take_stock() -> Inventory:
    """Looks up all of torch that could be banned; takes 0.1 s.

    Every function in Python refers to the builtins: who refers to them is found without all objects being touched, and
    so copied, in this process.
    """
    import torch.nn.attention.flex_attention  # torch.compile imports it, which `guard` would refuse

    gc.unfreeze()  # what is frozen is not found
    operators: dict[str, list[str]] = {}
    for key in dir(torch._C.DispatchKey):
        try:
            names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
        except RuntimeError:  # dir() lists what is no key
            continue
        for name in names:
            operators.setdefault(name, []).append(key)
    modules: dict[str, list[FunctionType]] = {}
    for one in gc.get_referrers(vars(builtins)):
        if type(one) is FunctionType and (one.__module__ or "").startswith("torch."):
            modules.setdefault(one.__module__, []).append(one)
    gc.freeze()
    functions: dict[str, list[FunctionType]] = {}
    for module, own in modules.items():
        for word, one in words_of(module, own):
            functions.setdefault(word, []).append(one)
    bare = [(VARIANT.sub("", name.partition("::")[2], count=1), name, keys) for name, keys in operators.items()]
    bare += [(BACKWARD_PASS, name, keys) for word, name, keys in bare if BACKWARD.search(word)]
    bare += [(FOR_LISTS, name, keys) for _, name, keys in bare if name.partition("::")[2].startswith("_foreach_")]
    return Inventory(sorted(bare), sorted(functions.items()))


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
