"""Takes away what no kata needs, once for all workers, in the server that they are forked from.

These are torch's operators outside `aten` (mkldnn, quantized, onednn, prims, …), kernels once more under names that no
ban knows, and what builds, rewrites, loads or runs TorchScript's graphs, whose operators are no kernels at all. What
`torch.jit.script` and `torch.jit.trace` themselves use stays. Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from graders.worker.fortress.outside import opaque
from graders.worker.fortress.removal import Refuse, instead_of, nothing, replace_kernels
from graders.worker.fortress.sterile import sterile
from graders.worker.fortress.stock import Inventory

# `profiler` is what optimizers call, and `_native` what torch's own operators do on a GPU.
NEEDED = ("aten::", "profiler::", "_native::")
# Tensors in the layout that those operators take; with it, TorchScript has a layer norm of its own.
ENTRANCES = re.compile("aten::(_?to_mkldnn|mkldnn_reorder)")
# Where no values are made, or only who makes them is found: `torch.compile` asks what a result would look like.
HARMLESS = ("Meta", "Autograd", "BackendSelect")
STAYS = "canonicalize|constant_propagation|erase_shape_information|inline|lint|peephole|remove_mutation"
GRAPHS = re.compile(
    f"_jit_pass_(?!({STAYS})$)|_jit_(differentiate|interpret_graph|decomposition_graph|shape_compute_graph|to_backend)"
    "|_jit_(register_shape|replace_submodule|to_static_module|run_cpp_tests|onnx_)|_fuse_to_static_module|parse_ir$"
    "|_create_function_from_graph|_freeze_module|_?import_ir|_load_(jit|mobile|for_lite)"
)
# Of what a graph consists of: all that changes one.
CHANGES = re.compile(
    "create|insert|append|prepend|add|replace|register|erase|permute|remove|destroy|move|copyAttributes|setType"
    "|makeMultiOutput|(f|fs|c|s|ss|i|is|g|gs|ival|t|ts|z|ty|tys|zs)_$"
)
PARTS: tuple[Any, ...] = (torch._C.Graph, torch._C.Block, torch._C.Node, torch._C.Value)


def take_away_unneeded(stock: Inventory) -> Callable[[Refuse], None]:
    """Does so, and returns what a worker calls with the function that refuses: that is not known before."""
    told: Any = partial(nothing)
    refuse = opaque(told)
    replace_kernels(
        (
            name,
            [key for key in keys if key not in HARMLESS],
            instead_of(name.removeprefix("aten::").replace("::", "."), refuse),
        )
        for _, name, keys in stock.operators
        if ENTRANCES.match(name) or not name.startswith(NEEDED)
    )
    for holder in (torch._C, torch):
        for name, value in [*vars(holder).items()]:
            if callable(value) and GRAPHS.match(name):  # once more in a server that loads torch's compiler later
                setattr(holder, name, instead_of(name.lstrip("_"), refuse))
    for part in PARTS:
        for name in [name for name in vars(part) if CHANGES.match(name)]:
            setattr(part, name, instead_of(f"{part.__name__}.{name}", refuse))
    torch._C.CompilationUnit.create_function = instead_of("create_function", refuse)  # type: ignore[method-assign]
    torch.compile = uncompiled(torch.compile)
    return lambda known: told.__setstate__((known, (), {}, None))


def uncompiled(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compile` by whose usual backend, which starts other programs, everything stays as it is."""
    usual = "inductor"

    def as_it_is(model: Any) -> Any:
        return model

    as_it_is = sterile(as_it_is)

    def compile(model: Any = None, *, backend: Any = usual, **options: Any) -> Any:  # noqa: A001
        if backend is not usual and backend != usual:
            return compile_it(model, backend=backend, **options)
        return as_it_is if model is None else model

    return sterile(compile)
