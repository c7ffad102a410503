"""A terminal in a page: what is said is HTML that is only ever added to, and lines come from whoever has it open."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterator

from rich.console import RenderableType

from graders.judge.warm import WarmJudge
from graders.sitting.pace import Pace
from graders.sitting.terminal import Terminal
from graders.web import drawn
from graders.web.runner import Turn
from graders.web.statement import drawn as marked_up
from graders.worker.visible import WHOLE, visible


class Transcript(Terminal):
    """All that was said; nobody is asked."""

    editor = "the editor here"

    def __init__(self) -> None:
        self.console = drawn.console()
        self.said: list[str] = []
        self.doing = ""  # what is waited for

    def ask(self, prompt: Callable[[], str], pace: Pace | None = None) -> str:
        raise EOFError

    def add(self, html: str) -> None:
        if html:
            self.said.append(html)

    def show(self, what: RenderableType) -> None:
        self.add(drawn.html(what, self.console))

    def say(self, text: str = "", style: str = "") -> None:
        self.add(drawn.words(text, style))

    def markdown(self, text: str) -> None:
        self.add(f'<div class="text">{marked_up(text, frozenset(), "")}</div>')

    def heading(self, text: str) -> None:
        self.add(drawn.words(text, tag="h2"))

    @contextlib.contextmanager
    def waiting(self, words: str) -> Iterator[Callable[[str], None]]:
        self.doing = words
        try:
            yield lambda now: setattr(self, "doing", now)
        finally:
            self.doing = ""


class Chat(Transcript):
    """While it waits for a line, others may judge."""

    def __init__(self, turn: Turn, judge: WarmJudge, whose: str) -> None:
        super().__init__()
        self.turn, self.judge, self.whose = turn, judge, whose
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.prompt: Callable[[], str] | None = None  # of the line that is waited for
        self.since = time.monotonic()  # it is busy
        self.last: str | None = None  # of what was sent
        self.ended = False

    def task(self, text: str) -> None:
        """It stands above what is said."""

    def ask(self, prompt: Callable[[], str], pace: Pace | None = None) -> str:
        self.judge.go_on()  # what was stopped came to its end by itself
        self.prompt = prompt
        try:
            with self.turn.given_back(self.whose):
                line = self.next_line(pace)
        finally:
            self.prompt, self.since = None, time.monotonic()
        if line is None:
            raise EOFError
        line = visible(line, WHOLE).rstrip()
        self.add(drawn.words(line, "you"))
        return line

    def next_line(self, pace: Pace | None) -> str | None:
        """None where there comes none any more. What there is to say of the time is said at once."""
        while True:
            for words in pace.due() if pace else ():
                self.say(words, "time")
            with contextlib.suppress(queue.Empty):
                return self.lines.get(timeout=pace.seconds() if pace else None)

    @property
    def asked(self) -> str:
        """What beside a line of one's own is waited for: `yes/no`, `your score`."""
        prompt = self.prompt
        return prompt().rpartition("]")[2].strip(" >") if prompt else ""

    @property
    def seconds(self) -> float:
        """For how long it has been busy; 0 while it waits for a line."""
        return 0.0 if self.prompt else time.monotonic() - self.since

    @property
    def idle(self) -> bool:
        """Whether a line is waited for, and none is there."""
        return self.prompt is not None and self.lines.empty()

    def repeats(self, text: str) -> bool:
        """Whether it was sent last, and is not answered yet."""
        return text == self.last and not self.idle

    def send(self, text: str) -> None:
        self.last = text
        for line in text.split("\n"):
            self.lines.put(line)

    def stop(self) -> None:
        """Ends what is under way."""
        if not self.ended and self.prompt is None and self.turn.whose == self.whose:
            self.judge.interrupt()

    def close(self) -> None:
        """The sitting is suspended."""
        self.lines.put(None)
        self.stop()
