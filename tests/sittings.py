"""What it takes to sit at the terminal: a real one of 80 columns, or one that is scripted, by a clock of its own."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graders.arguments import command_line
from graders.faults import ROOT
from graders.sitting.clock import Reading
from graders.sitting.pace import Pace
from graders.sitting.terminal import Streams

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


def flat(text: str) -> str:
    return " ".join(text.split())


class Tty:
    """80 columns, in which a command runs."""

    def __init__(self, root: Path, *arguments: str, **more: str) -> None:
        pexpect = pytest.importorskip("pexpect", reason="pexpect needs a Unix terminal")
        kept = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR")}
        self.raw = ""
        self.end = pexpect.EOF
        self.still = pexpect.TIMEOUT
        self.child = pexpect.spawn(
            sys.executable,
            [*command_line(root)[1:], *arguments],
            cwd=str(ROOT),
            env=kept | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8"} | more,
            encoding="utf-8",
            dimensions=(24, 80),
            timeout=60,
        )
        self.child.ptyproc.delayafterterminate = 0.5  # seconds, in which a busy machine ends what is killed

    def shows(self, *texts: str) -> str:
        """What was shown until all of these were, one after the other."""
        shown = ""
        for text in texts:
            self.child.expect_exact(text)
            shown += self.child.before + text
        return self.plain(shown)

    def plain(self, shown: str) -> str:
        self.raw += shown
        return ESCAPES.sub("", shown).replace("\r\n", "\n")

    def says(self, line: str, *until: str) -> str:
        self.child.sendline(line)
        return self.shows(*until)

    def ends(self, sent: signal.Signals | None = None) -> tuple[str, int]:
        """What is shown until then, and the exit status; by this signal, if one is given.

        It is sent again where nothing comes of it: `input` sees one that arrives between its prompt and its wait
        only when something else wakes it.
        """
        for _ in range(10 if sent else 0):
            self.child.sendintr() if sent == signal.SIGINT else self.child.kill(sent)
            if self.child.expect([self.end, self.still], timeout=6) == 0:
                break
        else:
            self.child.expect(self.end)
        self.child.wait()
        return self.plain(self.child.before), self.child.exitstatus


class FakeClock:
    """It goes on when it is told to."""

    def __init__(self) -> None:
        self.reading = Reading(1000.0, "this start", NOON)

    def read(self) -> Reading:
        return self.reading

    def go_on(self, seconds: float) -> None:
        now = self.reading
        self.reading = Reading(now.seconds + seconds, now.boot, now.wall + timedelta(seconds=seconds))


class Scripted(Streams):
    """Says its lines one after the other, and lets seconds pass where one is a number."""

    def __init__(self, clock: FakeClock, *lines: str | float) -> None:
        super().__init__()
        self.clock = clock
        self.lines = list(lines)

    def ask(self, prompt: Callable[[], str], pace: Pace | None = None) -> str:
        while self.lines and not isinstance(self.lines[0], str):
            self.clock.go_on(float(self.lines.pop(0)))
        if not self.lines:
            raise EOFError
        line = str(self.lines.pop(0))
        for words in pace.due() if pace else ():
            self.say(words)
        self.write(prompt() + line + "\n")
        return line
