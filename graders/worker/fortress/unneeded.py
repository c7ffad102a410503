"""Takes away what no kata needs, once for all workers, in the server that they are forked from.

These are torch's operators outside `aten` (mkldnn, quantized, onednn, prims, …), kernels once more under names that no
ban knows; torch.onnx, which has some in Python; the ways out to numpy; the profiler and tracemalloc, by which costs are
counted; other kernels for torch's operators; and what of `torch.compile` would start programs.
"""

from __future__ import annotations

import _tracemalloc
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
            if FUNCTIONS.search(name) and isinstance(value, BuiltinFunctionType):
                setattr(module, name, instead_of("torch.profiler" if "_profiler" in name else name.lstrip("_")))
    for module in (_tracemalloc, tracemalloc):  # by which meter.py counts
        for name in ("start", "stop", "clear_traces", "reset_peak"):
            setattr(module, name, left_out)
    torch._C._dispatch_library = of_ones_own  # type: ignore[assignment]
    torch.compile = uncompiled(torch.compile)
    sys.modules["torch.onnx"] = ModuleType("torch.onnx")
    sys.modules["torch.onnx"].is_in_onnx_export = lambda: False  # type: ignore[attr-defined]  # torch.compile asks


def of_ones_own(kind: str, namespace: str, key: str, *where: Any) -> Any:
    """Kernels for operators of one's own. Those for torch's are left out, since what is banned would be back.

    Nobody is told: modules of torch's register some when they are imported late.
    """
    elsewhere = ("Meta", "FuncTorchBatched")  # no tensor of the worker's gets there; torch.vmap registers some itself
    if namespace in ("aten", "_") and key not in elsewhere:
        return SimpleNamespace(impl=left_out, define=left_out, fallback=left_out, reset=left_out)
    return new_library(kind, namespace, key, *where)


def left_out(*_: object, **__: object) -> None: ...


def uncompiled(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compile` by whose usual backend, which starts other programs, everything stays as it is."""

    def compile(model: Any = None, *, backend: Any = "inductor", **options: Any) -> Any:  # noqa: A001
        if backend != "inductor":
            return compile_it(model, backend=backend, **options)
        return (lambda one: one) if model is None else model

    return compile
