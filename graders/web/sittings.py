"""Interviews and debug rounds in this server: the very sessions of the terminal, each in a thread of its own."""

from __future__ import annotations

import argparse
import contextlib
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import torch

from graders import debugging, interview
from graders.debugging.session import DebugSession, eligible
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile
from graders.faults import GraderError, UsageError
from graders.interview.session import InterviewSession
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import Launcher
from graders.sitting.session import Session
from graders.web.chat import Chat
from graders.web.runner import Turn

KINDS: tuple[type[Session[Any]], ...] = (InterviewSession, DebugSession)
# What a page may choose, of what the command line has.
CHOICES = {
    "interview": ("minutes", "katas", "topic", "level", "set", "seed"),
    "debug": ("bugs", "minutes", "topic", "level", "set", "seed", "slow", "symptom"),
}
CLOSING_SECONDS = 5.0
FAULT = "this is a fault of the graders, not yours; please report what the terminal of the server shows"


class Held:
    """What is sat of one kind: it goes on whether a page shows it or not."""

    def __init__(self, kind: type[Session[Any]], launcher: Launcher, turn: Turn, root: Path) -> None:
        self.kind, self.launcher, self.turn, self.root = kind, launcher, turn, root
        self.beginning = threading.Lock()
        self.chat: Chat | None = None  # of what goes on, or was sat last
        self.session: Session[Any] | None = None
        self.thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        """As the command, and so the page, is called."""
        return self.kind.command

    @property
    def goes_on(self) -> bool:
        return self.chat is not None and not self.chat.ended

    @property
    def files(self) -> list[AnswerFile]:
        """Those that can be written where it stands: answers, and tests beside them once there are some."""
        sat = self.session.written if self.session and self.goes_on else []
        made = [AnswerFile(one.kata, one.kind, tests) for one in sat for tests in (False, True)]
        made += [AnswerFile(*one) for one in self.session.beside] if self.session and sat else []
        return [one for one in made if not one.tests or one.path.exists()]

    def begin(self, arguments: list[str], state: State) -> None:
        """Unless one goes on. Raises: UsageError."""
        options = parsed([self.name, *arguments], self.root)
        with self.beginning:
            if self.goes_on:
                return
            self.kind.check(options, state)  # what is wrong is told in the form
            if self.kind is DebugSession and not (options.resume or options.symptom):
                eligible(options, self.root, state)
            self.session = None
            self.chat = Chat(self.turn, WarmJudge(self.launcher), f"the {self.kind.noun}")
            self.thread = threading.Thread(target=self.hold, args=(options, self.chat), daemon=True)
            self.thread.start()

    def hold(self, options: argparse.Namespace, chat: Chat) -> None:
        torch.set_num_threads(1)
        with self.turn.taken(chat.whose):
            try:
                self.sit(options, chat)
            except (UsageError, GraderError) as error:
                chat.say(f"error: {error}")
            except (EOFError, KeyboardInterrupt):
                chat.say("stopped before it began")
            except Exception:  # said there also, where it can be copied
                chat.say(FAULT)
                traceback.print_exc()
            finally:
                chat.judge.close()
                chat.ended = True

    def sit(self, options: argparse.Namespace, chat: Chat) -> None:
        with contextlib.closing(State(self.root)) as state:
            going_on = self.kind.check(options, state)
            self.session = self.kind(options, self.root, state, chat, chat.judge)
            try:
                self.session.run(going_on)
            finally:
                for note in state.notes:
                    chat.say(f"note: {note}")

    def close(self) -> None:
        """Suspends it."""
        if self.chat and self.thread and self.goes_on:
            self.chat.close()
            self.thread.join(CLOSING_SECONDS)


class Strict(argparse.ArgumentParser):
    """Raises: UsageError for what is wrong."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parsed(arguments: list[str], root: Path) -> argparse.Namespace:
    """As the command line understands them. Raises: UsageError."""
    parser = Strict(add_help=False)
    commands = parser.add_subparsers(required=True)
    interview.add_commands(commands, root)
    debugging.add_commands(commands, root)
    return parser.parse_args(arguments)


def arguments(name: str, form: Mapping[str, str]) -> list[str]:
    """What a form's fields are on the command line."""
    given = {field: form[field].strip() for field in CHOICES[name] if form.get(field, "").strip()}
    made = [f"--{field}" if field == "slow" else f"--{field}={value}" for field, value in given.items()]
    made += [f"--{way}" for way in ("resume", "new") if form.get("way") == way]
    return [*made, "--", *form.get("named", "").split()] if name == "debug" else made
