"""Ctrl-C in a sitting: it ends what is under way and not the sitting, and what is written is written whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

from graders.faults import UsageError
from graders.judge.warm import WarmJudge


class Stopped(UsageError):
    """Ctrl-C ended what was under way."""


@contextlib.contextmanager
def heard(act: Callable[[], None]) -> Iterator[None]:
    """Meanwhile Ctrl-C does this instead of raising; where it is handled or ignored already, all stays as it is."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """What is written here and what is remembered of it belong together: Ctrl-C waits for the end."""
    pressed: list[bool] = []
    try:
        with heard(lambda: pressed.append(True)):
            yield
    finally:
        if pressed:
            raise KeyboardInterrupt


@contextlib.contextmanager
def stoppable(judge: WarmJudge) -> Iterator[None]:
    """Ctrl-C ends the judge's workers, and what waits for them returns. Raises: Stopped then, whatever came of it.

    Whoever else interrupts the judge meanwhile, in another thread, has the same effect.
    """
    ending: list[threading.Thread] = []

    def stop() -> None:  # in a thread of its own: this one may hold the lock that it takes
        ending.append(threading.Thread(target=judge.interrupt))
        ending[-1].start()

    try:
        with heard(stop):
            yield
    finally:
        for thread in ending:
            thread.join()
        if judge.interrupted:
            judge.go_on()
            raise Stopped("stopped: nothing of it counts, and the clock runs on") from None
