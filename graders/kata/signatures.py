"""Signatures as the statements write them: parameters and their defaults."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Named:
    """A default that is no literal, such as torch.float32, as Python shows it."""

    text: str

    def __repr__(self) -> str:
        return self.text


@functools.cache
def parameters_of(signature: str) -> Mapping[str, Any]:
    """Name -> default of a signature's text, in order; `...` where there is none, Named where it is no literal."""
    name, _, rest = signature.removeprefix("class ").partition("(")
    tree = ast.parse(f"def {name or 'forward'}({rest or ')'}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    names = [argument.arg for argument in tree.args.args]
    defaults = [default_of(default) for default in tree.args.defaults]
    return dict(zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True))


def default_of(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Named(ast.unparse(node))
