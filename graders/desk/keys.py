"""Single keys from a terminal, whole lines from a pipe; the terminal is left as it was found."""

from __future__ import annotations

import contextlib
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def listening(pressed: Callable[[str], None]) -> Iterator[None]:
    """Calls `pressed` in another thread, with each key, or with the first letter of each line where there are none."""
    with unbuffered() as read:
        thread = threading.Thread(target=listen, args=(read, pressed), daemon=True)
        thread.start()
        yield


def listen(read: Callable[[], str], pressed: Callable[[str], None]) -> None:
    while key := read():
        pressed(key)


@contextlib.contextmanager
def unbuffered() -> Iterator[Callable[[], str]]:
    """How to read one key; "" at the end of input."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield read_line
    elif sys.platform == "win32":
        import msvcrt

        yield msvcrt.getwch
    else:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            # A shell that was gone back to by Ctrl-Z leaves its own settings.
            signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(terminal, termios.TCSANOW))
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as by Ctrl-C, the terminal is left as it was
            yield lambda: sys.stdin.read(1)
        finally:
            signal.signal(signal.SIGCONT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def read_line() -> str:
    try:
        line = sys.stdin.readline()
    except (OSError, ValueError, AttributeError):  # closed, or there is none
        return ""
    return line.strip()[:1] or " " if line else ""


@contextlib.contextmanager
def whole_lines() -> Iterator[bool]:
    """What is typed can be seen and mended until its line ends, and its keys come then; False where no line can come.

    Windows shows none of it.
    """
    typed = sys.stdin is not None and sys.stdin.isatty()
    if not typed or sys.platform == "win32":
        yield typed
        return
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    after = [*before]
    after[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(terminal, termios.TCSADRAIN, after)
    try:
        yield True
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def typed_line(wishes: queue.Queue[Any], asked: str) -> tuple[str, list[Any]]:
    """A line of the keys that come, "" where none can come; and what else came before its end."""
    typed, others = "", []
    with whole_lines() as can_type:
        if can_type:
            print(asked, end="", flush=True)
        while can_type and (wish := wishes.get()) not in ("\n", "\r"):
            if isinstance(wish, str):
                typed += wish
            else:
                others.append(wish)
    return typed.strip(), others
