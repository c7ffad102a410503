"""The engine that judges katas, and its command line; it names no kata."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graders.desk.notebook import Shell


def load_ipython_extension(shell: Shell) -> None:
    """What `%load_ext graders` calls in a notebook."""
    from graders.desk import notebook

    notebook.load(shell)
