"""What in a submission's source a person should look at. It is no failure: an honest file may have reasons."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from graders.catalogue.source import lines_of
from graders.worker.visible import visible

# Ways from a function, a frame or a hook to what is not the submission's, past torch's front door, to raw memory and to
# the worker's descriptors.
NAMES = {
    "__closure__", "__globals__", "tb_frame", "f_back", "gi_frame", "cr_frame", "gettrace", "getprofile", "settrace",
    "setprofile", "_getframe", "addaudithook", "__array_interface__", "__array_struct__", "data_ptr", "_C", "ctypes",
    "runpy", "__subclasses__", "__mro__", "__code__", "exec_module", "meta_path", "dup2",
}  # fmt: skip
SETTERS = {"setattr", "delattr", "__setattr__", "__delattr__"}
MOST = 20
LONGEST = 100  # characters


def flagged(source: str) -> list[str]:
    """Like "line 12: `__closure__`": the names above, in strings too, and what assigns to an attribute of torch's."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []  # it cannot be imported
    except (RecursionError, MemoryError):
        return ["nested too deep to be looked at"]
    lines, of_torch = lines_of(source), names_of_torch(tree)
    found = set()
    for node in ast.walk(tree):
        found |= {(getattr(node, "lineno", 0), name) for name in named(node)}
        if isinstance(node, ast.expr) and changes(node, of_torch):
            found.add((node.lineno, lines[node.lineno - 1].strip() if node.lineno <= len(lines) else "torch"))
    return [f"line {line}: `{visible(text, LONGEST)}`" for line, text in sorted(found)[:MOST]]


def named(node: ast.AST) -> Iterator[str]:
    for _, value in ast.iter_fields(node):
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield from NAMES.intersection(text.split("."))


def changes(node: ast.expr, of_torch: set[str]) -> bool:
    """Whether it is `torch.relu` where that is assigned to, `torch.__dict__["relu"]` so, or a call of setattr."""
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else root(function)
        return name in SETTERS and any(root(argument) in of_torch for argument in node.args[:2])
    target = node.value if isinstance(node, ast.Subscript) else node
    stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
    return stored and isinstance(target, ast.Attribute) and root(target) in of_torch


def names_of_torch(tree: ast.AST) -> set[str]:
    """Names that the file gives to torch, or to what is in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages = [alias for alias in node.names if alias.name.partition(".")[0] == "torch"]
            found |= {alias.asname or "torch" for alias in packages}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch":
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def root(node: ast.expr) -> str:
    """`torch` of `torch.nn.functional.relu`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
