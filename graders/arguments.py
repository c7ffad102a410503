"""What the commands' arguments have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

KATAS = "which katas, by name, topic or path; all of them by default"


def workers(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"there should be at least 1 worker, got {value}")
    return value


def seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 32:
        raise argparse.ArgumentTypeError(f"a seed should be from 0 to {2**32 - 1}, got {value}")
    return value


def one_of(name: str, choices: Sequence[Any], meant: Callable[[str], str] = str) -> Callable[[str], Any]:
    """What reads an argument that is one of these, or means one."""
    found = {str(choice): choice for choice in choices}

    def read(text: str) -> Any:
        text = meant(text)
        if text not in found:
            raise argparse.ArgumentTypeError(f"there is no {name} {text!r}; there are: {', '.join(found)}")
        return found[text]

    return read


def address(root: Path) -> str:
    """Where this repository is at home, as the `urls` of pyproject.toml say; empty where they do not."""
    import tomllib  # a few ms, which few commands need

    file = root / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"] if file.exists() else {}
    return str(project.get("urls", {}).get("Repository", ""))


def command_line(root: Path) -> list[str]:
    """What starts this command line in a process of its own, on the repository at `root`."""
    code = f"import pathlib; from graders import __main__ as m; m.leave(m.main(root=pathlib.Path({str(root)!r})))"
    return [sys.executable, "-c", code]
