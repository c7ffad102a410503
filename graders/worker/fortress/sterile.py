"""Functions that a submission may meet on its stack, and that lead it nowhere."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

OWN: set[CodeType] = set()  # of such functions
BUILTINS = {"RuntimeError": RuntimeError, "ImportError": ImportError, "BaseException": BaseException}


def sterile(function: Callable[..., Any], builtins: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The same function with no globals. All else that it uses should be in its closure, and be harmless there.

    `builtins` are those that it has instead of the few.
    """
    assert isinstance(function, FunctionType)
    given = {"__builtins__": BUILTINS.copy() if builtins is None else builtins}
    made = FunctionType(function.__code__, given, None, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    OWN.add(made.__code__)
    return made
