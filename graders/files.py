"""Writes a file whole or not at all, and says beforehand where it cannot."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graders.faults import UsageError


def replace_file(path: Path, content: str | bytes, advice: str = "mend that, then try again") -> None:
    """All or nothing, unless it is a link or no plain file, such as /dev/stdout: that is written to.

    Raises: UsageError, with the advice.
    """
    written = content.encode() if isinstance(content, str) else content
    with explained(path, advice):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(written)
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(written)
            os.chmod(name, path.stat().st_mode if path.exists() else 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise


def make_room(path: Path, advice: str) -> None:
    """Makes the folders that lead to it, and no file. Raises: UsageError, with the advice, where it cannot."""
    with explained(path, advice):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() or path.is_dir():
            path.open("a").close()
        elif not path.exists():
            tempfile.TemporaryFile(dir=path.parent).close()


def leads_out(path: Path) -> bool:
    """Whether it is a link out of its folder, which no answer may be."""
    return path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve())


@contextlib.contextmanager
def explained(path: Path, advice: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; {advice}") from None
