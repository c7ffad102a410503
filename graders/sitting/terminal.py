"""What a sitting is held at: lines in, text out. Nothing is drawn over, so it works piped and dumb as well."""

from __future__ import annotations

import abc
import contextlib
import io
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from graders.judge import screen
from graders.judge.spelling import spelled
from graders.sitting.pace import Pace
from graders.worker.visible import WHOLE, visible


class Terminal(abc.ABC):
    """All that a sitting needs of one; a page in a browser is another.

    `console` draws what is shown, and says how wide that should be.
    """

    editor: ClassVar[str] = "your own editor"  # in which the answer is written
    console: Console

    @abc.abstractmethod
    def ask(self, prompt: Callable[[], str], pace: Pace | None = None) -> str:
        """A line; what there is to say of the time is said at once. Raises: EOFError, KeyboardInterrupt."""

    @abc.abstractmethod
    def show(self, what: RenderableType) -> None: ...
    @abc.abstractmethod
    def say(self, text: str = "", style: str = "") -> None: ...
    @abc.abstractmethod
    def markdown(self, text: str) -> None: ...
    @abc.abstractmethod
    def heading(self, text: str) -> None: ...
    @abc.abstractmethod
    def waiting(self, words: str) -> AbstractContextManager[Callable[[str], None]]:
        """Tells meanwhile what is waited for; what it gives is called with other words as they change."""

    def task(self, text: str) -> None:
        """Says in Markdown what is to be done, where that is not in view anyway."""
        self.markdown(text)
        self.say()

    def section(self, title: str, what: RenderableType) -> None:
        """Shows it below a title, a little to the right."""
        self.say()
        self.say(title, style="bold")
        self.show(Padding(what, (0, 0, 0, 2)))

    def printed(self, text: str) -> None:
        """Shows what a program printed, as it stands."""
        self.show(Text(text))

    def rows(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Shows a table of two columns."""
        self.show(screen.two_columns(pairs))

    def numbered(self, texts: Iterable[str]) -> None:
        """Shows a list, from 1."""
        self.rows((str(place), text) for place, text in enumerate(texts, start=1))


class Streams(Terminal):
    """Standard input and output."""

    def __init__(self) -> None:
        self.console = screen.console()
        self.typed = sys.stdin is not None and sys.stdin.isatty()
        self.line_so_far: Callable[[], str] = str
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        if self.typed and self.console.is_terminal:
            with contextlib.suppress(ImportError):  # Windows has none
                import readline  # the line can be edited then, and earlier ones brought back

                readline.parse_and_bind("set enable-bracketed-paste off")  # pasted lines are lines
                self.line_so_far = readline.get_line_buffer

    def ask(self, prompt: Callable[[], str], pace: Pace | None = None) -> str:
        if pace is not None:
            for words in pace.due():
                self.say(words)
        with self.interrupting(prompt, pace) if pace and self.typed else contextlib.nullcontext():
            line = input(prompt())
        if not self.typed:
            self.write(line + "\n")  # else a transcript would not show what was said
        return visible(line, WHOLE).rstrip()

    @contextlib.contextmanager
    def interrupting(self, prompt: Callable[[], str], pace: Pace) -> Iterator[None]:
        """Says what is due while a line is typed, and brings back what was typed of it."""
        typed = threading.Event()

        def interrupt() -> None:
            while (seconds := pace.seconds()) is not None and not typed.wait(seconds):
                for words in pace.due():
                    self.write("\n")
                    self.say(words)
                    self.write(prompt() + self.line_so_far())

        thread = threading.Thread(target=interrupt, daemon=True)
        thread.start()
        try:
            yield
        finally:
            typed.set()
            thread.join()

    def say(self, text: str = "", style: str = "") -> None:
        self.show(Text(self.readable(text), style=style))

    def markdown(self, text: str) -> None:
        self.show(Padding(Markdown(self.readable(text), code_theme="ansi_dark"), (0, 0, 0, 2)))

    def heading(self, text: str) -> None:
        self.say()
        if cell_len(text) + 2 > self.console.width:  # a rule would cut it off
            self.say(text, style="bold")
            text = ""
        self.show(Rule(Text(text, style="bold"), align="left", style="dim"))

    def show(self, what: RenderableType) -> None:
        with self.console.capture() as captured:
            self.console.print(what)
        self.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))

    @contextlib.contextmanager
    def waiting(self, words: str) -> Iterator[Callable[[str], None]]:
        if self.console.is_terminal:
            with self.console.status(words) as status:
                yield lambda now: status.update(now)
        else:
            yield lambda now: None

    def printed(self, text: str) -> None:
        self.say(text)

    def write(self, text: str) -> None:
        sys.stdout.write(self.readable(text))
        sys.stdout.flush()

    def readable(self, text: str) -> str:
        """ASCII where the terminal's encoding has no better; best before lines are broken."""
        return spelled(text, self.console.encoding)
