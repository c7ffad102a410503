"""Makes a kata's bans also hold in modules of torch that are imported after the stock was taken.

Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import builtins
import importlib.machinery
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from graders.worker.fortress.outside import opaque
from graders.worker.fortress.removal import FILES, Refuse, instead_of, refusing
from graders.worker.fortress.sterile import sterile
from graders.worker.fortress.stock import spelled_out, words_of

# The importer's class by which all that reads source runs a module's code.
LOADER: Any = next(one for one in importlib.machinery.SourceFileLoader.__mro__ if "exec_module" in vars(one))


def watch_imports(banned: tuple[str, ...], refuse: Refuse) -> None:
    """From now on. What it does so in the submission's thread leads nowhere."""
    ordinary, treat = LOADER.exec_module, treatment(spelled_out(banned), refuse)

    def exec_module(loader: Any, module: ModuleType) -> None:
        ordinary(loader, module)
        treat(module)

    LOADER.exec_module = opaque(sterile(exec_module))


def treatment(banned: tuple[str, ...], refuse: Refuse) -> Callable[[ModuleType], None]:
    """What gives a module's functions other code where they are banned, and methods of its classes."""
    codes = {word: refusing(instead_of(word, refuse), sterile.__code__) for word in banned}
    function, methods, words, files = FunctionType, (staticmethod, classmethod), words_of, FILES

    def treat(module: ModuleType) -> None:
        name, seen = module.__name__, set()
        if not name.startswith("torch."):
            return
        pending = [*vars(module).values()]
        while pending:
            one = pending.pop()
            if type(one) in methods:
                one = one.__func__
            if id(one) in seen or not isinstance(one, (function, type)) or one.__module__ != name:
                continue
            seen.add(id(one))
            if isinstance(one, type):
                pending += vars(one).values()
                continue
            pending.append(vars(one).get("__wrapped__"))
            for word in banned:
                if any(found.startswith(word) for found in words(one)):
                    files.add(one.__code__.co_filename)
                    one.__code__ = codes[word].replace(co_freevars=one.__code__.co_freevars)

    return sterile(treat, vars(builtins).copy())
