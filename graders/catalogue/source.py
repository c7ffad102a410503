"""A submission as text: read with care, compared, and searched for what it defines."""

from __future__ import annotations

import ast
from pathlib import Path

LONGEST_SOURCE = 1 << 18


class Unreadable(Exception):
    """There is no source to judge; the message says why and what to do."""


def read_source(path: Path, shown: str) -> str:
    """Raises: Unreadable."""
    try:
        if not path.exists():
            raise Unreadable(f"{shown} does not exist; check the path")
        if not path.is_file():
            raise Unreadable(f"{shown} is not a regular file; name a Python file")
        if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
            raise Unreadable(f"{shown} is a link that leads out of its folder; name the file itself")
        if path.stat().st_size > LONGEST_SOURCE:
            raise Unreadable(
                f"{shown} has {path.stat().st_size:,} bytes; a submission should have at most {LONGEST_SOURCE:,}"
            )
        return path.read_text(encoding="utf-8-sig")  # as Python reads it: some editors begin files with a mark
    except UnicodeDecodeError as error:
        raise Unreadable(f"{shown} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise Unreadable(f"{shown} cannot be read: {error.strerror or error}") from None


def same_program(source: str, other: str) -> bool:
    """Whether two sources differ at most in comments and layout."""
    try:
        return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def defined_in(source: str) -> list[str]:
    """The functions and classes of a module."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
