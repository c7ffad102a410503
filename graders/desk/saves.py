"""Tells of files that were saved, however an editor saves and wherever they lie."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import watchfiles

LOOK_MILLISECONDS = 1000  # without a sign from the system, as on network folders
QUIET_MILLISECONDS = 10  # some editors write in several steps
OFTEN_MILLISECONDS = 100  # how often to look where only looking helps


class SaveWatcher:
    """Calls `saved` in another thread with each of the files that was written since the last look.

    The system's signs only tell when to look, so a file that another takes the place of, as many editors do it, is
    noticed like one that is written to, and so is one on a network folder, from which no sign comes.
    """

    def __init__(self, files: list[Path], saved: Callable[[Path], None], poll: bool = False) -> None:
        self.files = files
        self.saved = saved
        self.poll = poll
        self.seen = {file: version_of(file) for file in files}
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> SaveWatcher:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        self.thread.join()

    def run(self) -> None:
        for _ in watchfiles.watch(
            *{file.parent for file in self.files},
            watch_filter=None,
            debounce=QUIET_MILLISECONDS * 5,
            step=QUIET_MILLISECONDS,
            stop_event=self.stop,
            rust_timeout=OFTEN_MILLISECONDS if self.poll else LOOK_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=self.poll or None,
            poll_delay_ms=OFTEN_MILLISECONDS,
            recursive=False,
        ):
            self.look()

    def look(self) -> None:
        for file in self.files:
            version = version_of(file)
            if version != self.seen[file]:
                self.seen[file] = version
                if version is not None:
                    self.saved(file)


def version_of(file: Path) -> tuple[int, bytes] | None:
    """None where it is not there: an editor may be replacing it."""
    try:
        return file.stat().st_mtime_ns, file.read_bytes()
    except OSError:
        return None
