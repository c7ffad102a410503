"""The engine that judges katas, and its command line; it names no kata."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graders.notebook.magic import Shell


def load_ipython_extension(shell: Shell) -> None:
    """What `%load_ext graders` calls in a notebook."""
    from graders.notebook import magic as notebook

    notebook.load(shell)
