"""Other right answers, which are shown to somebody whose own passes."""

from __future__ import annotations

import ast
from pathlib import Path


def about(file: Path) -> str:
    """Its name, and the first line of its docstring."""
    return f"{file.stem}: {ast.get_docstring(ast.parse(file.read_text(encoding='utf-8'))) or ''}".partition("\n")[0]
