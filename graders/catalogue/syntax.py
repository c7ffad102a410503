"""What right answers look like, so that no planted bug is found by its style alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from graders.faults import ROOT

Shape = tuple[str, str, str]  # a part of a program, where another one stands in it, and which: Call, func, Lambda


def shapes(node: ast.AST) -> Iterator[Shape]:
    nodes = [node]
    for parent in nodes:  # which grow meanwhile
        for name, value in ast.iter_fields(parent):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    nodes.append(child)
                    yield type(parent).__name__, name, type(child).__name__


@functools.cache
def usual(root: Path) -> frozenset[Shape]:
    """Those of all references and alternatives of all katas."""
    files = {*root.glob("solutions/*/*/*.py"), *root.glob("solutions/*/*/alternatives/*.py")}
    right = (file for file in files if file.stem == file.parent.name or file.parent.name == "alternatives")
    found = {shape for file in right for shape in shapes(ast.parse(file.read_text(encoding="utf-8")))}
    return frozenset(found) | (usual(ROOT) if root != ROOT else frozenset())


def unusual(text: str, lines: set[int], root: Path) -> set[Shape]:
    """What in these lines, from 1, occurs in no right answer; nothing in what is no Python."""
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt | ast.expr)]
    except SyntaxError:
        return set()
    return {shape for node in nodes if node.lineno in lines for shape in shapes(node)} - usual(root)
