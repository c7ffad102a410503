"""Starts the worker's code where a submission cannot reach it.

Submission and worker share one interpreter, and in Python everything leads to everything: a frame to its globals, a
class to its methods' globals, a module to whatever it imported. So what serves requests is a private copy: namespaces
that no module, class or closure leads to, with builtins of their own. What still leads there, the frames of its thread,
removal.py closes, and outside.py keeps off the submission's stack.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

PACKAGE = "graders.worker"
MODULES = (
    "visible", "wire", "protocol", "script", "fortress.sterile", "fortress.outside", "meter", "fortress.stock",
    "fortress.removal", "fortress.unneeded", "fortress.late", "fortress.guards", "described", "inputs", "targets",
    "calls", "serve",
)  # fmt: skip  # each imports only from those before it


def code_of(module: str) -> CodeType:
    found = importlib.util.find_spec(f"{PACKAGE}.{module}")
    assert found is not None
    code = found.loader.get_code(found.name)  # type: ignore[union-attr]  # a source file's loader has it
    assert isinstance(code, CodeType)
    return code


CODE = {module: code_of(module) for module in MODULES}


def private_copy() -> dict[str, dict[str, Any]]:
    """The copy's namespaces, by module. Its classes have no methods of their own, since every class can be found."""
    own = dict(vars(builtins))
    copy: dict[str, Any] = {}
    ordinary = builtins.__import__

    def find(name: str, *rest: Any) -> Any:
        if not name.startswith(PACKAGE):
            return ordinary(name, *rest)
        asked = name[len(PACKAGE) + 1 :]
        if asked in copy:
            return SimpleNamespace(**copy[asked])
        inside = f"{asked}." if asked else ""
        found = (module for module in copy if module.startswith(inside))
        return SimpleNamespace(**{module.removeprefix(inside): SimpleNamespace(**copy[module]) for module in found})

    own["__import__"] = find
    for module, code in CODE.items():
        copy[module] = {"__name__": f"{PACKAGE}.{module}", "__builtins__": own}
        exec(code, copy[module])
    for module, namespace in copy.items():
        for one in namespace.values():
            if isinstance(one, type) and one.__module__ == f"{PACKAGE}.{module}":
                copy["fortress.removal"]["freeze"](one)
    return copy


def forget_modules(root: Path) -> None:
    """Takes our modules, what ran us, and the repository, from where a submission looks for modules.

    Those that the copy was made of are emptied: their classes lead to them, and they hold what is about to be removed.
    """
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != root]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("graders", "pytest", "_pytest")]:
        module = sys.modules.pop(name)
        if name.removeprefix(f"{PACKAGE}.") in MODULES:
            vars(module).clear()
    sys.modules.pop("__mp_main__", None)  # as multiprocessing calls `__main__`
    sys.modules["__main__"] = ModuleType("__main__")
    sys.argv[:] = sys.orig_argv[:] = [""]
