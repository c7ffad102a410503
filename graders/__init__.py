"""The engine that judges katas, and its command line."""

from __future__ import annotations

import os

# Read as torch is imported. Else its profiler tells learners, on their cards, of memory that was there before it began.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
TYPE_CHECKING = False  # importing typing takes longer than all else before the command line heeds Ctrl-C
if TYPE_CHECKING:
    from graders.notebook.magic import Shell


def load_ipython_extension(shell: Shell) -> None:
    """What `%load_ext graders` calls in a notebook."""
    from graders.notebook import magic as notebook

    notebook.load(shell)
