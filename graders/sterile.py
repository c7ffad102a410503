"""Functions that a submission may meet on its stack, and that lead it nowhere."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

BUILTINS = {"RuntimeError": RuntimeError, "ImportError": ImportError, "BaseException": BaseException}


def sterile(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with no globals. All else that it uses should be in its closure, and be harmless there."""
    assert isinstance(function, FunctionType)
    made = FunctionType(
        function.__code__, {"__builtins__": BUILTINS.copy()}, None, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
