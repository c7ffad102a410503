"""A submission as text: read with care, compared, and searched for what it defines."""

from __future__ import annotations

import ast
import io
from dataclasses import dataclass
from pathlib import Path

from graders.files import leads_out

LONGEST_SOURCE = 1 << 18


@dataclass(frozen=True)
class Source:
    """A submission as text, and the name that its learner knows it by.

    Args:
        text: what stands in it; empty where it could not be had.
        shown: its name, in messages and in tracebacks.
        unreadable: why there is nothing to judge and what to do; the sentence goes on from the name.
    """

    text: str
    shown: str
    unreadable: str = ""

    @classmethod
    def of_bytes(cls, content: bytes, shown: str) -> Source:
        """As Python reads a file: some editors begin it with a mark."""
        if len(content) > LONGEST_SOURCE:
            return cls("", shown, too_large(len(content)))
        try:
            text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig").read()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            return cls("", shown, f"is not UTF-8 text (line {line}); save it as UTF-8")
        return cls(text, shown)


def too_large(size: int) -> str:
    return f"has {size:,} bytes; a submission should have at most {LONGEST_SOURCE:,}"


def read_source(path: Path, shown: str) -> Source:
    try:
        if not path.exists():
            return Source("", shown, "does not exist; check the path")
        if not path.is_file():
            return Source("", shown, "is not a regular file; name a Python file")
        if leads_out(path):
            return Source("", shown, "is a link that leads out of its folder; name the file itself")
        if (size := path.stat().st_size) > LONGEST_SOURCE:
            return Source("", shown, too_large(size))
        return Source.of_bytes(path.read_bytes(), shown)
    except OSError as error:
        return Source("", shown, f"cannot be read: {error.strerror or error}")


def lines_of(source: str) -> list[str]:
    """As Python counts them: `splitlines` breaks a line at form feeds and the like, too."""
    return source.split("\n")


def same_program(source: str, other: str) -> bool:
    """Whether two sources differ at most in comments and layout."""
    try:
        return source == other or ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def defined_in(source: str) -> list[str]:
    """The functions and classes of a module."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
