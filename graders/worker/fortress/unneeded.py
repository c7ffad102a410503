"""Takes away what no kata needs, once for all workers, in the server that they are forked from.

These are torch's operators outside `aten` (mkldnn, quantized, onednn, prims, …), kernels once more under names that no
ban knows; torch.onnx, which has some in Python; the ways out to numpy; the profiler and tracemalloc, by which costs are
counted; other kernels for torch's operators; and what of `torch.compile` would start programs. In the place of what
torch imports late, for seconds, stands what the usual caller needs of it.
"""

from __future__ import annotations

import _tracemalloc
import importlib
import operator
import re
import sys
import tracemalloc
from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch

from graders.worker.fortress.removal import instead_of, new_library, replace_kernels
from graders.worker.fortress.stock import Inventory

# `profiler` is what optimizers call, and `_native` what torch's own operators do on a GPU.
NEEDED = ("aten::", "profiler::", "_native::")
# Tensors in the layout that those operators take; with it, TorchScript has a layer norm of its own.
ENTRANCES = re.compile("aten::(_?to_mkldnn|mkldnn_reorder)")
# Where no values are made, or only who makes them is found: `torch.compile` asks what a result would look like.
HARMLESS = ("Meta", "Autograd", "BackendSelect")
# Methods of tensors: to numpy, and those that call Python for each element.
METHODS = ("numpy", "__array__", "__dlpack__", "apply_", "map_", "map2_")
FUNCTIONS = re.compile("_profiler|record_function|to_dlpack|import_ir_module")  # the last: graphs that are loaded


def take_away_unneeded(stock: Inventory) -> None:
    replace_kernels(
        (
            name,
            [key for key in keys if key not in HARMLESS],
            instead_of(name.removeprefix("aten::").replace("::", ".")),
        )
        for _, name, keys in stock.operators
        if ENTRANCES.match(name) or not name.startswith(NEEDED)
    )
    for name in METHODS:
        setattr(torch.Tensor, name, instead_of(f"Tensor.{name}"))
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"]:
        for name, value in [*vars(module).items()]:
            if type(value) is BuiltinFunctionType and FUNCTIONS.search(name):
                setattr(module, name, instead_of("torch.profiler" if "_profiler" in name else name.lstrip("_")))
    for module in (_tracemalloc, tracemalloc):  # by which meter.py counts
        for name in ("start", "stop", "clear_traces", "reset_peak"):
            setattr(module, name, left_out)
    torch._C._dispatch_library = of_ones_own  # type: ignore[assignment]
    torch.compile = uncompiled(torch.compile)
    sys.modules["torch.onnx"] = ModuleType("torch.onnx")
    sys.modules["torch.onnx"].is_in_onnx_export = lambda: False  # type: ignore[attr-defined]  # torch.compile asks
    # An optimizer asks this of torch.compile at each step, and a backward that is given gradients that of their shapes.
    stand_in("torch._dynamo", graph_break=left_out, disable=undisturbed)
    stand_in("torch.fx.experimental.symbolic_shapes", sym_eq=operator.eq, expect_true=bool, __path__=[])


def of_ones_own(kind: str, namespace: str, key: str, *where: Any) -> Any:
    """Kernels for operators of one's own. Those for torch's are left out, since what is banned would be back.

    Nobody is told: modules of torch's register some when they are imported late.
    """
    elsewhere = ("Meta", "FuncTorchBatched")  # no tensor of the worker's gets there; torch.vmap registers some itself
    if namespace in ("aten", "_") and key not in elsewhere:
        return SimpleNamespace(impl=left_out, define=left_out, fallback=left_out, reset=left_out)
    return new_library(kind, namespace, key, *where)


class StandIn(ModuleType):
    """A module of torch's of which a part is here; whoever wants more imports it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # who looks through all modules wants nothing of it
            raise AttributeError(name)
        if sys.modules[self.__name__] is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def stand_in(name: str, **parts: Any) -> None:
    if name not in sys.modules:
        sys.modules[name] = StandIn(name)
        vars(sys.modules[name]).update(parts)


def undisturbed(function: Any = None, *_: object, **__: object) -> Any:
    """As a decorator of torch's, with or without arguments."""
    return (lambda one: one) if function is None else function


def left_out(*_: object, **__: object) -> None: ...


def uncompiled(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compile` by whose usual backend, which starts other programs, everything stays as it is."""

    def compile(model: Any = None, *, backend: Any = "inductor", **options: Any) -> Any:  # noqa: A001
        if backend != "inductor":
            return compile_it(model, backend=backend, **options)
        return undisturbed(model)

    return compile
